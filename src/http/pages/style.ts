/** The style of our pages: system fonts, one column, 7:1 contrast in light and dark, nothing from elsewhere. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f23; --paper: #ffffff; --line: #6a737d; --soft: #f0f3f6;
  --accent: #0a4480; --on-accent: #ffffff; --alarm: #9b1c1c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceff1; --paper: #14181c; --line: #8b949e; --soft: #20262c; --accent: #a8cdfa;
    --on-accent: #0b1620; --alarm: #ffb4ab; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.55 system-ui, sans-serif;
  overflow-wrap: anywhere; }
header, main, footer { max-width: 40rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1rem; font-weight: 600; }
footer { margin-top: 3rem; padding-bottom: 2rem; border-top: 1px solid var(--line); font-size: 0.9375rem; }
footer ul { padding: 0; list-style: none; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 1.5rem 0 1rem; }
h2 { font-size: 1.25rem; margin: 2rem 0 0.5rem; }
a { color: var(--accent); text-underline-offset: 0.15em; }
li { margin: 0.35rem 0; }
label { display: block; font-weight: 600; margin: 1.5rem 0 0.25rem; }
.hint { margin: 0 0 0.5rem; }
input, textarea { width: 100%; padding: 0.65rem 0.75rem; font: inherit; color: inherit; background: var(--paper);
  border: 2px solid var(--line); border-radius: 0.3rem; }
textarea { font-family: ui-monospace, monospace; font-size: 1.1875rem; resize: none; }
[aria-invalid] { border-color: var(--alarm); }
button, .button { display: inline-block; min-height: 2.75rem; margin: 1rem 0.5rem 0 0; padding: 0.6rem 1.25rem;
  font: inherit; font-weight: 600; color: var(--on-accent); background: var(--accent);
  border: 2px solid var(--accent); border-radius: 0.3rem; text-decoration: none; cursor: pointer; }
.second { color: var(--accent); background: var(--paper); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.note, .problem { padding: 0.25rem 1rem; border-left: 0.35rem solid var(--accent); background: var(--soft); }
.problem, .error { border-color: var(--alarm); }
.error { color: var(--alarm); font-weight: 600; margin: 0 0 0.25rem; }
.problem a { color: var(--alarm); }
.problem h2 { margin-top: 0.75rem; }
pre { padding: 0.75rem 1rem; background: var(--soft); white-space: pre-wrap; font: 0.9375rem/1.5 ui-monospace, monospace; }
[hidden] { display: none; }
`;

/** Adds a copy button to the page with the words. The page works without it. */
export const COPY_SCRIPT = `
const words = document.getElementById('words');
const button = document.getElementById('copy');
const told = document.getElementById('copied');
button.hidden = false;
button.addEventListener('click', async () => {
  words.focus();
  words.select();
  try {
    await navigator.clipboard.writeText(words.value);
    told.textContent = 'The words are copied.';
  } catch {
    told.textContent = 'The words are selected: copy them with your keyboard or menu.';
  }
});
`;
