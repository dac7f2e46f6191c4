import { once } from 'node:events';
import { SMTPStream } from 'smtp-server/lib/smtp-stream.js';
import t from 'tap';

/** What `MailStream` of src/smtp/data-scanner.ts relies on in the library's parser. */

/** Records what `_write` gets while in data mode, as `MailStream` takes it over. */
class Spy extends SMTPStream {
  readonly data: Buffer[] = [];
  readonly pending: (() => void)[] = [];
  readonly calls: string[] = [];

  override _flushData(): void {
    this.calls.push('_flushData');
    super._flushData();
  }

  override _commandTooLong(): Error {
    this.calls.push('_commandTooLong');
    return super._commandTooLong();
  }

  override _write(
    chunk: Buffer,
    encoding: BufferEncoding | 'buffer',
    next: (error?: Error | null) => void,
  ): void {
    if (!this._dataMode || this.isClosed) {
      super._write(chunk, encoding, next);
      return;
    }
    this.data.push(chunk);
    this.pending.push(next);
  }
}

function spy(dataCommand = 'DATA'): { stream: Spy; commands: string[] } {
  const stream = new Spy({ maxCommandLength: 20 });
  const commands: string[] = [];
  stream.oncommand = (command, done) => {
    commands.push(command.toString());
    if (command.toString() === dataCommand) stream._dataMode = true;
    done?.();
  };
  return { stream, commands };
}

t.test('lines become commands, cut anywhere', async t => {
  const { stream, commands } = spy();
  stream.write('NOOP\r\nRS');
  stream.write('ET\r\n');
  await new Promise(setImmediate);
  t.same(commands, ['NOOP', 'RSET']);
});

t.test('once _dataMode is set the rest of the chunk goes through _write, as bytes', async t => {
  const { stream, commands } = spy();
  stream.write(Buffer.from('NOOP\r\nDATA\r\nab\u00ff\r\nNOOP\r\n', 'latin1'));
  t.same(commands, ['NOOP', 'DATA']);
  t.equal(Buffer.concat(stream.data).toString('latin1'), 'ab\u00ff\r\nNOOP\r\n');
});

t.test('the next chunk waits for the callback of the last', async t => {
  const { stream } = spy();
  stream.write('DATA\r\none');
  stream.write('two');
  t.equal(stream.data.length, 1);
  stream.pending[0]?.();
  await new Promise(setImmediate);
  t.same(stream.data.map(String), ['one', 'two']);
});

t.test('with _dataMode off, what is given to _write is commands again', async t => {
  const { stream, commands } = spy();
  stream.write('DATA\r\none');
  stream._dataMode = false;
  stream._write(Buffer.from('RSET\r\nNOOP\r\n'), 'buffer', stream.pending[0]!);
  stream.write('QUIT\r\n');
  await new Promise(setImmediate);
  t.same(commands, ['DATA', 'RSET', 'NOOP', 'QUIT']);
});

t.test('an empty rest is no obstacle', async t => {
  const { stream, commands } = spy();
  let isNext = false;
  stream._write(Buffer.alloc(0), 'buffer', () => {
    isNext = true;
  });
  t.ok(isNext);
  t.same(commands, []);
});

t.test('isClosed swallows everything', async t => {
  const { stream, commands } = spy();
  stream.isClosed = true;
  stream.write('NOOP\r\n');
  stream.end('RSET');
  await once(stream, 'finish');
  t.same(commands, []);
});

t.test('a line over maxCommandLength is an error, whole or not', async t => {
  for (const text of [`${'x'.repeat(21)}\r\n`, 'x'.repeat(21)]) {
    const { stream, commands } = spy();
    const failed = once(stream, 'error');
    stream.write(text);
    await failed;
    t.same(commands, []);
    t.same(stream.calls, ['_commandTooLong'], 'asked for the error before it is emitted');
  }
  const { stream, commands } = spy();
  stream.write(`${'x'.repeat(20)}\r\n`);
  t.equal(commands.length, 1);
});

t.test('the end of the stream makes a command of what is left, in _flushData', async t => {
  const { stream, commands } = spy();
  stream.end('RSET');
  await once(stream, 'finish');
  t.same(stream.calls, ['_flushData']);
  t.same(commands, ['RSET']);
});
