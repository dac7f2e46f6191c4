import type { Command } from 'commander';
import type { Cli } from './run-command.js';

type Add = (program: Command, cli: Cli) => void;

/**
 * The commands by their first word, in the order of the help. Each is loaded when it is asked for: all of them are
 * several hundred files, which is what most of the time of a short command would go into.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  init: async () => (await import('./service/init.js')).addInitCommand,
  serve: async () => (await import('./service/serve.js')).addServeCommand,
  mcp: async () => (await import('./mcp/mcp.js')).addMcpCommand,
  config: async () => (await import('./service/config.js')).addConfigCommands,
  account: async () => (await import('./accounts/account.js')).addAccountCommands,
  key: async () => (await import('./accounts/key.js')).addKeyCommands,
  approve: async () => (await import('./signup/approve.js')).addApproveCommand,
  allowance: async () => (await import('./accounts/allowance.js')).addAllowanceCommands,
  inbox: async () => (await import('./inboxes/inbox.js')).addInboxCommands,
  policy: async () => (await import('./inboxes/policy.js')).addPolicyCommands,
  message: async () => (await import('./mailbox/message.js')).addMessageCommands,
  sent: async () => (await import('./sending/sent.js')).addSentCommands,
  queue: async () => (await import('./sending/queue.js')).addQueueCommands,
  suppression: async () => (await import('./inboxes/suppression.js')).addSuppressionCommands,
  webhook: async () => (await import('./webhooks/webhook.js')).addWebhookCommands,
  dkim: async () => (await import('./dkim/dkim.js')).addDkimCommands,
  feedback: async () => (await import('./accounts/feedback.js')).addFeedbackCommands,
  audit: async () => (await import('./accounts/audit.js')).addAuditCommands,
  backup: async () => (await import('./upkeep/backup.js')).addBackupCommand,
  restore: async () => (await import('./upkeep/restore.js')).addRestoreCommand,
  compact: async () => (await import('./upkeep/compact.js')).addCompactCommand,
  dns: async () => (await import('./dns/dns.js')).addDnsCommands,
  doctor: async () => (await import('./doctor/doctor.js')).addDoctorCommand,
  tls: async () => (await import('./tls/tls.js')).addTlsCommands,
  status: async () => (await import('./upkeep/status.js')).addStatusCommand,
  search: async () => (await import('./upkeep/search.js')).addSearchCommands,
  clock: async () => (await import('./upkeep/clock.js')).addClockCommands,
  verify: async () => (await import('./upkeep/verify.js')).addVerifyCommand,
  completion: async () => (await import('./service/completion.js')).addCompletionCommand,
  version: async () => (await import('./service/serve.js')).addVersionCommand,
};

/**
 * Adds the command that `argv` begins with, or all of them where it begins with none: for the help, for completion,
 * and to name what a misspelt one was meant to be.
 */
export async function addCommands(program: Command, cli: Cli, argv: readonly string[]): Promise<void> {
  const name = firstWord(program, argv);
  const isAlone = name !== 'completion' && Object.hasOwn(COMMANDS, name);
  const loading = Object.entries(COMMANDS).filter(([word]) => !isAlone || word === name);
  for (const add of await Promise.all(loading.map(([, load]) => load()))) add(program, cli);
}

/** What follows the options of the program; '' where nothing does. */
function firstWord(program: Command, argv: readonly string[]): string {
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (!word.startsWith('-')) return word;
    const option = program.options.find(({ long, short }) => word === long || word === short);
    // An option that we do not know, --help among them, may stand for anything.
    if (option === undefined && !word.includes('=')) return '';
    if (option?.required === true) at += 1;
  }
  return '';
}
