const LF = 0x0a;

/** With the CRLF at its end that the final dot follows: SMTP knows no other end of a message. */
export function withFinalLineEnd(content: Uint8Array): Uint8Array {
  return content.at(-1) === LF ? content : Buffer.concat([content, Buffer.from('\r\n')]);
}
