import type { TestAgent } from '../support/box/agents.js';
import type { PosternBox } from '../support/box/postern-box.js';
import { writeLetter } from '../support/letters/letters.js';
import { deliver } from '../support/smtp/deliver.js';

/** Once a few messages have been parsed, everything that a daemon opens is open. */
export async function warmUp(box: PosternBox, agent: TestAgent): Promise<void> {
  for (let n = 0; n < 10; n++) await agent.api.finished(await deliver(box, agent.address, writeLetter()));
}
