import { text } from './strings.js';
import { arrows, h, set, size, span } from './dom.js';
import { commandMark, commandText, who } from './store.js';
import { shown } from './log.js';

const pause = 120; // milliseconds without a key until it searches
const most = 100; // lines until the button for more
const around = 3; // lines before and after each
const wait = 200; // milliseconds that a later call searches

// Output finds lines in what all sessions and processes have printed.
export class Output {
  constructor(app) {
    this.app = app;
    this.id = 'output';
    this.input = h('input', { type: 'search', placeholder: text.searchOutput, 'aria-label': text.searchOutput, spellcheck: false, autocapitalize: 'off', oninput: () => this.later(), onkeydown: (e) => this.key(e) });
    this.regexp = h('input', { type: 'checkbox', onchange: () => this.later() });
    this.hint = h('p', { className: 'hint', role: 'status' }, text.aboutOutput);
    this.rows = h('ul', { className: 'found' });
    this.more = h('button', { type: 'button', hidden: true, onclick: () => this.run(this.next) }, text.more);
    arrows(this.rows, 'summary');
    this.element = h('section', { className: 'view output', 'aria-label': text.output },
      h('div', { className: 'tools' }, this.input, h('label', { className: 'check' }, this.regexp, text.regexp)), this.hint, this.rows, h('div', { className: 'tools' }, this.more));
  }

  shown() { if (!this.app.touch.matches) this.input.focus(); }

  enter() { this.input.focus(); }

  draw() {}

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), pause);
  }

  key(e) {
    if (e.key !== 'ArrowDown' && e.key !== 'Enter') return;
    e.preventDefault();
    this.rows.querySelector('summary')?.focus();
  }

  search() {
    const wanted = this.input.value;
    this.ending?.abort();
    if (wanted) {
      this.run({ text: wanted, regexp: this.regexp.checked, context: around, limit: most });
      return;
    }
    this.clear(null);
    set(this.hint, text.aboutOutput);
  }

  // clear makes room for the lines of a search.
  clear(input) {
    this.rows.replaceChildren();
    this.more.hidden = true;
    this.known = new Set();
    this.group = '';
    this.marks = input && pattern(input);
  }

  // run searches until there are enough lines. Those of the last search stay until it is answered.
  async run(input) {
    const { signal } = this.ending = new AbortController();
    this.more.hidden = true;
    try {
      for (let n = 0; input && n < most;) {
        const o = await this.app.api.call('output.search', input, signal);
        if (!input.cursor) this.clear(input);
        n += (o.hits || []).filter((hit) => this.add(hit)).length;
        input = o.cursor && { ...input, cursor: o.cursor, wait_ms: wait };
        set(this.hint, text.lines(this.known.size) + (o.cursor && n < most ? `, ${text.searching(size(o.left, text.units))}` : ''));
      }
      this.next = input;
      this.more.hidden = !input;
    } catch (err) {
      if (!signal.aborted) set(this.hint, err.message);
    }
  }

  // add adds a line below the others, unless it is there. A group is what one command or process printed.
  add(hit) {
    const key = [hit.id, hit.stream, hit.offset].join(' ');
    if (this.known.has(key)) return false;
    this.known.add(key);
    const group = [hit.id, hit.stream, hit.run?.id].join(' ');
    if (group !== this.group) this.rows.append(this.heading(hit));
    this.group = group;
    const lines = (all) => (all || []).map((line) => `${shown(line)}\n`).join('');
    this.rows.append(h('li', {}, h('details', {}, h('summary', {}, ...this.marked(shown(hit.text))),
      h('pre', {}, lines(hit.before), ...this.marked(shown(hit.text)), '\n', lines(hit.after)))));
    return true;
  }

  heading(hit) {
    const p = this.app.store.processes.get(hit.id);
    const [mark, how] = commandMark(hit.run || { ...hit, stopped: hit.state === 'stopped' });
    const command = hit.run?.command || (p && commandText(p)) || '';
    const by = hit.run || hit;
    return h('li', { className: 'group' }, h('span', { className: `mark ${how}`, 'aria-hidden': 'true' }, mark),
      h('button', { type: 'button', className: 'link', disabled: !p, onclick: () => this.open(hit) }, hit.name), h('code', {}, command),
      h('span', { className: 'about' }, [how === 'failed' ? by.exit_signal || text.failedWith(by.exit_code) : '', who(by.actor), (hit.rough ? '~' : '') + span(hit.time)].filter(Boolean).join(' · ')),
      command && !this.app.me.read_only && h('button', { type: 'button', className: 'quiet', onclick: () => this.app.view('history').insert(command) }, text.insert));
  }

  // marked gives a line with its matches marked.
  marked(line) {
    const parts = [];
    let at = 0;
    for (const m of this.marks ? line.matchAll(this.marks) : []) {
      parts.push(line.slice(at, m.index), m[0] && h('mark', {}, m[0]));
      at = m.index + m[0].length;
    }
    return [...parts, line.slice(at)].filter(Boolean);
  }

  // open shows the session of a line, or the lines that match in the log of its process.
  open(hit) {
    if (hit.kind === 'session') {
      this.app.show('sessions');
      this.app.view('sessions').choose(hit.id, true);
      return;
    }
    this.app.show('processes');
    this.app.view('processes').choose(hit.id);
  }

  dispose() {
    clearTimeout(this.timer);
    this.ending?.abort();
  }
}

// pattern is what the engine searches for, as a regular expression of the browser; null if that has
// no such expression. Case counts once there is an upper-case letter.
function pattern({ text: wanted, regexp }) {
  const source = regexp ? wanted : wanted.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  try {
    return new RegExp(source, /\p{Lu}/u.test(regexp ? wanted.replace(/\\./g, '') : wanted) ? 'g' : 'gi');
  } catch {
    return null;
  }
}
