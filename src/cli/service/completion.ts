import { Argument, type Command, type Option } from 'commander';
import { answer } from '../outcome.js';
import type { Cli } from '../run-command.js';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const HELP = `
  bash   postern completion bash > /etc/bash_completion.d/postern
  zsh    postern completion zsh > /usr/local/share/zsh/site-functions/_postern
  fish   postern completion fish > /etc/fish/completions/postern.fish
`;

/** `postern completion`: what a shell needs to complete command lines, made from the commands themselves. */
export function addCompletionCommand(program: Command, cli: Cli): void {
  program
    .command('completion')
    .description('print the completion of commands and options for a shell')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(SHELLS))
    .addHelpText('after', HELP)
    .action((shell: Shell) =>
      cli.plain(() => {
        const script = SCRIPTS[shell](placesOf(program));
        return answer({ shell, script }, script);
      }),
    );
}

/** A command, and what may follow it. */
interface Place {
  /** `message list`; empty for the program. */
  readonly path: string;
  readonly commands: readonly Word[];
  readonly options: readonly Word[];
  /** Options that are followed by a value, short ones included. */
  readonly valued: readonly string[];
  /** Values of options and arguments, where they are words to choose from; by option, '' for arguments. */
  readonly choices: ReadonlyMap<string, readonly string[]>;
}

interface Word {
  readonly name: string;
  readonly description: string;
}

function placesOf(program: Command): readonly Place[] {
  const help = { name: '--help', description: 'show what a command takes' };
  const places: Place[] = [];
  const visit = (command: Command, path: string): void => {
    const own = command.options.filter(option => !option.hidden);
    const all = command === program ? own : [...own, ...program.options];
    places.push({
      path,
      commands: command.commands.map(one => ({ name: one.name(), description: one.description() })),
      options: [...all.map(option => ({ name: nameOf(option), description: option.description })), help],
      valued: all
        .filter(option => option.required)
        .flatMap(({ short, long }) => [short, long].flatMap(one => one ?? [])),
      choices: new Map([
        ...all.flatMap(option => listed(nameOf(option), option.argChoices)),
        ...command.registeredArguments.flatMap(one => listed('', one.argChoices)),
      ]),
    });
    for (const one of command.commands) visit(one, path === '' ? one.name() : `${path} ${one.name()}`);
  };
  visit(program, '');
  return places;
}

function nameOf({ long, short }: Option): string {
  return long ?? short ?? '';
}

function listed(name: string, choices: readonly string[] | undefined): [string, readonly string[]][] {
  return choices === undefined || choices.length === 0 ? [] : [[name, choices]];
}

const names = (words: readonly Word[]): string => words.map(({ name }) => name).join(' ');

/** The lines of a `case` of bash and zsh: what each place offers. */
function caseLines(places: readonly Place[], indent: string): string {
  return places
    .flatMap(({ path, commands, options, choices }) => [
      ...[...choices].map(([option, words]) => `${indent}"${path}|${option}") words="${words.join(' ')}" ;;`),
      ...(choices.has('') ? [] : [`${indent}"${path}|") words="${names(commands)}" ;;`]),
      `${indent}"${path}|-") words="${names(options)}" ;;`,
    ])
    .join('\n');
}

function pathPattern(places: readonly Place[]): string {
  return places
    .filter(({ path }) => path !== '')
    .map(({ path }) => `"${path}"`)
    .join('|');
}

/**
 * Of all commands together: a shell passes over an option before it knows of which command.
 * @throws when a name takes a value with one command and none with another
 */
function valuedPattern(places: readonly Place[]): string {
  const valued = new Set(places.flatMap(place => place.valued));
  for (const { path, options, valued: here } of places) {
    const odd = options.find(({ name }) => valued.has(name) && !here.includes(name));
    if (odd !== undefined)
      throw new Error(`${odd.name} of "${path}" takes no value, though elsewhere it does`);
  }
  return [...valued].sort().join('|');
}

const SCRIPTS: Readonly<Record<Shell, (places: readonly Place[]) => string>> = {
  bash: places => `# Completion of postern for bash, made by "postern completion bash".
_postern() {
  local path="" before="" words="" word i current="\${COMP_WORDS[COMP_CWORD]}"
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    if [[ -n $before ]]; then before=""; continue; fi
    case "$word" in
      ${valuedPattern(places)}) before="$word"; continue ;;
      -*) continue ;;
    esac
    case "\${path:+$path }$word" in
      ${pathPattern(places)}) path="\${path:+$path }$word" ;;
    esac
  done
  if [[ -z $before && $current == -* ]]; then before="-"; fi
  case "$path|$before" in
${caseLines(places, '    ')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _postern postern
`,
  zsh: places => `#compdef postern
# Completion of postern for zsh, made by "postern completion zsh".
_postern() {
  local at="" before="" offered="" word i current="\${words[CURRENT]}"
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    if [[ -n $before ]]; then before=""; continue; fi
    case "$word" in
      ${valuedPattern(places)}) before="$word"; continue ;;
      -*) continue ;;
    esac
    case "\${at:+$at }$word" in
      ${pathPattern(places)}) at="\${at:+$at }$word" ;;
    esac
  done
  if [[ -z $before && $current == -* ]]; then before="-"; fi
  case "$at|$before" in
${caseLines(places, '    ').replaceAll(' words=', ' offered=')}
  esac
  if [[ -n $offered ]]; then compadd -- \${(s: :)offered}; else _files; fi
}
if [[ "$funcstack[1]" == _postern ]]; then _postern "$@"; else compdef _postern postern; fi
`,
  fish: places => `# Completion of postern for fish, made by "postern completion fish".
function __postern_at
    set -l at
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        if contains -- $word ${valuedPattern(places).replaceAll('|', ' ')}
            set skip 1
            continue
        end
        if string match -q -- '-*' $word
            continue
        end
        set -l longer (string join ' ' $at $word)
        if contains -- $longer ${pathPattern(places).replaceAll('|', ' ')}
            set at $longer
        end
    end
    test "$at" = "$argv[1]"
end
${places.flatMap(fishLines).join('\n')}
`,
};

function fishLines({ path, commands, options, valued, choices }: Place): string[] {
  const at = `complete -c postern -n '__postern_at "${path}"'`;
  return [
    ...commands.map(({ name, description }) => `${at} -f -a ${name} -d ${quoted(description)}`),
    ...(choices.get('') ?? []).map(word => `${at} -f -a ${word}`),
    ...options.map(({ name, description }) => {
      const words = choices.get(name);
      const value =
        words !== undefined ? ` -x -a ${quoted(words.join(' '))}` : valued.includes(name) ? ' -r' : '';
      return `${at} -l ${name.replace(/^--/, '')}${value} -d ${quoted(description)}`;
    }),
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
