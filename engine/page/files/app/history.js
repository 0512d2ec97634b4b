import { text } from './strings.js';
import { ask, h, say, span } from './dom.js';
import { commandMark, who } from './store.js';

const pause = 120; // milliseconds without a key until it searches

// History finds commands that were run, and puts them on a session's prompt.
export class History {
  constructor(app) {
    this.app = app;
    this.id = 'history';
    this.seen = -1;
    this.input = h('input', { type: 'search', placeholder: text.searchHistory, 'aria-label': text.searchHistory, spellcheck: false, autocapitalize: 'off', oninput: () => this.later(), onkeydown: (e) => this.key(e) });
    this.rows = h('ul', { className: 'commands' });
    this.empty = h('p', { className: 'empty', hidden: true }, text.noHistory);
    this.element = h('section', { className: 'view history', 'aria-label': text.history }, h('div', { className: 'tools' }, this.input), this.rows, this.empty);
  }

  shown() {
    this.seen = -1;
    if (!this.app.touch.matches) this.input.focus();
  }

  enter() { this.input.focus(); }

  draw() {
    if (this.seen === this.app.store.histories || !this.app.store.known) return;
    this.seen = this.app.store.histories;
    this.search();
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.search(), pause);
  }

  key(e) {
    if (e.key === 'ArrowDown') this.rows.querySelector('button')?.focus();
    else if (e.key === 'Enter') this.rows.querySelector('button')?.click();
    else return;
    e.preventDefault();
  }

  async search() {
    this.ending?.abort();
    const { signal } = this.ending = new AbortController();
    try {
      const o = await this.app.api.call('history.search', { query: this.input.value, unique: true, limit: 100 }, signal);
      this.rows.replaceChildren(...(o.rows || []).map((r) => this.row(r)));
      this.empty.hidden = (o.rows || []).length > 0;
    } catch (err) {
      if (!signal.aborted) say(err.message, true);
    }
  }

  row(r) {
    const [mark, how] = commandMark(r);
    const matched = new Set(r.matched || []);
    const code = h('code', {}, ...[...r.command].map((c, i) => (matched.has(i) ? h('mark', {}, c) : c)));
    return h('li', {}, h('button', { type: 'button', title: text.insert, disabled: this.app.me.read_only, onclick: () => this.insert(r.command), onkeydown: (e) => this.move(e) },
      h('span', { className: `mark ${how}`, 'aria-hidden': 'true' }, mark), code,
      h('span', { className: 'about' }, [how === 'failed' ? r.exit_signal || text.failedWith(r.exit_code) : '', r.cwd, who(r.actor), span(r.started_at)].filter(Boolean).join(' · '))));
  }

  move(e) {
    const li = e.currentTarget.parentNode;
    const to = { ArrowDown: li.nextSibling, ArrowUp: li.previousSibling }[e.key];
    if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
    e.preventDefault();
    if (to) to.firstChild.focus();
    else if (e.key === 'ArrowUp') this.input.focus();
  }

  // insert puts a command on the prompt of the session in front. The engine refuses several lines if
  // the program there may run each of them.
  async insert(command, lines = false) {
    const sessions = this.app.view('sessions');
    if (!sessions.chosen) {
      say(text.noPrompt, true);
      return;
    }
    this.app.show('sessions');
    const view = sessions.focusedView;
    view?.takeSize();
    try {
      await this.app.api.call('session.insert', { id: sessions.chosen, text: command, lines });
    } catch (err) {
      if (err.reason !== 'runs_lines') say(err.message, true);
      else if (await ask(text.insertLines, { detail: text.linesRun, yes: text.insertThem, no: text.cancel })) await this.insert(command, true);
    }
    if (!this.app.touch.matches) view?.focus();
  }

  dispose() {
    clearTimeout(this.timer);
    this.ending?.abort();
  }
}
