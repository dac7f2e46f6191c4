import type { TestAgent } from '../support/agents.js';
import { deliver } from '../support/deliver.js';
import { writeLetter } from '../support/letters.js';
import type { PosternBox } from '../support/postern-box.js';

/** Once a few messages have been parsed, everything that a daemon opens is open. */
export async function warmUp(box: PosternBox, agent: TestAgent): Promise<void> {
  for (let n = 0; n < 10; n++) await agent.api.finished(await deliver(box, agent.address, writeLetter()));
}
