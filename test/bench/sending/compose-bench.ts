import type { Bench } from '../bench.js';
import { type ComposeOrder, type ComposerName, OUTGOING } from '../load/compose-corpus.js';
import { Engine, medianSpeeds } from '../load/run-engine.js';
import { compare, times, whole } from '../measure/report.js';

const COLUMNS = ['', 'composeMessage/s', 'MiB/s', 'nodemailer/s', 'x nodemailer'];
const COMPOSERS: readonly ComposerName[] = ['composeMessage', 'nodemailer'];

/** How fast are messages composed our way, compared with nodemailer's MailComposer left alone? */
export const composeBench: Bench = {
  name: 'compose',
  title: "messages composed a second; nodemailer: MailComposer's build, without our steps",
  async run({ isQuick, runs }) {
    const engines = new Map(
      COMPOSERS.map(composer => [composer, new Engine<ComposeOrder>('load/compose-engine.js', { composer })]),
    );
    try {
      const rows: string[][] = [];
      const ratios: number[] = [];
      for (const kind of OUTGOING) {
        const speedOf = await medianSpeeds(engines, { kind, durationMs: isQuick ? 300 : 700 }, runs);
        const ours = speedOf('composeMessage');
        const theirs = speedOf('nodemailer');
        if (ours === null || theirs === null) throw new Error('a composer that was not measured');
        const mebibytes = (ours.bytesPerSecond / 2 ** 20).toFixed(1);
        const ratio = times(ours.perSecond, theirs.perSecond);
        rows.push([kind, whole(ours.perSecond), mebibytes, whole(theirs.perSecond), ratio]);
        ratios.push(ours.perSecond / theirs.perSecond);
      }
      const words = { unit: 'x', than: 'nodemailer', digits: 2 };
      const comparisons = [compare('compose, at its worst', Math.min(...ratios), { atLeast: 1 }, words)];
      return { columns: COLUMNS, rows, notes: [], comparisons };
    } finally {
      await Promise.all([...engines.values()].map(engine => engine.stop()));
    }
  },
};
