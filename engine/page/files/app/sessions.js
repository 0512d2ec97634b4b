import { text } from './strings.js';
import { arrows, ask, h, keyed, set } from './dom.js';
import { commandText, ended, failed, shownName, stateText } from './store.js';
import { TerminalView } from './terminal.js';
import { swipe } from './touch.js';

const marks = { working: '◐', blocked: '◆', done: '✓', idle: '○', unknown: '' };

// wants reports whether a session needs the person.
const wants = (p) => p.agent && (p.agent.state === 'blocked' || p.agent.state === 'done' && !p.agent.seen);

// Sessions is the list of sessions, and their terminals, laid out as the dashboard has them.
export class Sessions {
  constructor(app) {
    this.app = app;
    this.id = 'sessions';
    this.always = true; // the list is beside every view
    this.views = new Map();
    this.shape = '';
    this.chosen = app.me.session || '';
    this.rows = h('ul', { className: 'sessions' });
    arrows(this.rows, 'li > button:first-child');
    this.list = h('div', { className: 'list' }, h('h2', {}, text.sessions), this.rows,
      !app.me.read_only && h('button', { type: 'button', className: 'new', onclick: () => this.create() }, `+ ${text.newSession}`));
    this.tabs = h('div', { className: 'tabs', hidden: true });
    this.stage = h('div', { className: 'stage' });
    this.empty = h('p', { className: 'empty', hidden: true }, text.noSessions);
    this.element = h('section', { className: 'view', 'aria-label': text.sessions }, this.tabs, this.stage, this.empty);
  }

  all() {
    const all = this.app.store.sessions();
    return this.app.me.session ? all.filter((p) => p.id === this.app.me.session) : all;
  }

  draw() {
    const { known } = this.app.store;
    const all = this.all();
    if (known && !all.some((p) => p.id === this.chosen)) this.choose(this.first(all), false);
    keyed(this.rows, all, (p) => p.id, (p) => this.makeRow(p), (e, p) => this.drawRow(e, p));
    this.empty.hidden = all.length > 0 || !known;
    set(this.app.title, this.app.narrow.matches && this.app.store.processes.has(this.chosen) ? shownName(this.app.store.processes.get(this.chosen)) : '');
    this.app.title.hidden = !this.app.title.textContent;
    if (this.app.current !== this.id || !known) return;
    this.drawTabs();
    this.lay();
    for (const v of this.views.values()) v.update();
    this.see();
  }

  // first is the session to begin with: the one in front of the dashboard.
  first(all) {
    const layout = this.app.store.layout;
    const tab = layout?.tabs?.[layout.current || 0];
    const node = tab?.nodes?.[tab.focus || 0];
    return (all.find((p) => p.id === node?.id) || all.find((p) => !ended(p)) || all[0])?.id || '';
  }

  makeRow(p) {
    const row = h('button', { type: 'button', onclick: () => this.choose(row.parentNode.dataset.key, true) },
      h('span', { className: 'mark', 'aria-hidden': 'true' }), h('span', { className: 'name' }), h('span', { className: 'state' }), h('span', { className: 'program' }));
    const close = !this.app.me.read_only && h('button', { type: 'button', className: 'quiet more', 'aria-label': `${text.endSession} ${p.name}`, title: text.endSession, onclick: () => this.end(p.id) }, '×');
    return h('li', {}, row, close);
  }

  drawRow(e, p) {
    const [mark, name, state, program] = e.firstChild.children;
    const agent = p.agent?.state;
    const how = failed(p) ? 'failed' : p.state;
    set(mark, agent ? marks[agent] : how === 'running' ? '●' : how === 'failed' ? '✗' : '○');
    mark.className = `mark ${agent || how}`;
    set(name, shownName(p));
    set(state, agent ? text.agent[agent] : ended(p) ? stateText(p) : p.terminal?.rang ? text.rang : '');
    state.className = `state ${agent || how}`;
    set(program, agent === 'blocked' && p.agent.text ? p.agent.text : p.agent ? p.agent.name : p.terminal?.title || commandText(p));
    e.classList.toggle('wants', Boolean(wants(p)));
    if (p.id === this.chosen) e.firstChild.setAttribute('aria-current', 'true');
    else e.firstChild.removeAttribute('aria-current');
  }

  choose(id, focus) {
    this.chosen = id;
    if (focus && this.app.current !== this.id) this.app.show(this.id);
    else if (focus) this.draw();
    if (focus && !this.app.touch.matches) this.views.get(id)?.focus();
  }

  shown() { this.draw(); }

  // enter gives the terminal the keyboard; leave gives it to the list beside it.
  enter() { this.focusedView?.focus(); }

  leave() { (this.rows.querySelector('[aria-current]') || this.list.querySelector('button'))?.focus(); }

  focusedOn(view) {
    if (this.chosen === view.id) return;
    this.chosen = view.id;
    this.app.draw();
  }

  get focusedView() { return this.views.get(this.chosen); }

  // tab is the tab of the saved layout that has a session, on screens with room for it.
  tab(id) {
    if (this.app.narrow.matches || this.app.me.session) return null;
    const there = new Set(this.all().map((p) => p.id));
    const tab = this.app.store.layout?.tabs?.find((t) => t.nodes.some((n) => n.id === id));
    return tab && tree(tab.nodes, there);
  }

  drawTabs() {
    const tabs = this.app.narrow.matches || this.app.me.session ? [] : this.app.store.layout?.tabs || [];
    const there = new Set(this.all().map((p) => p.id));
    const shown = tabs.map((t, i) => ({ i, ids: t.nodes.map((n) => n.id).filter((id) => there.has(id)), focus: t.nodes[t.focus || 0]?.id })).filter((t) => t.ids.length);
    this.tabs.hidden = shown.length < 2;
    keyed(this.tabs, shown, (t) => String(t.i), () => h('button', { type: 'button', onclick: (e) => this.choose(e.currentTarget.dataset.first, true) }), (e, t) => {
      e.dataset.first = t.ids.includes(t.focus) ? t.focus : t.ids[0];
      set(e, t.ids.map((id) => shownName(this.app.store.processes.get(id))).join(' · '));
      if (t.ids.includes(this.chosen)) e.setAttribute('aria-current', 'true');
      else e.removeAttribute('aria-current');
    });
  }

  // lay shows the tab of the chosen session, or the session alone.
  lay() {
    const shape = this.chosen ? this.tab(this.chosen) || { id: this.chosen } : null;
    const text = JSON.stringify(shape);
    for (const [id, v] of this.views) v.element.classList.toggle('current', id === this.chosen);
    if (text === this.shape) return;
    this.shape = text;
    const ids = new Set(leaves(shape));
    for (const [id, v] of this.views) {
      if (ids.has(id)) continue;
      v.dispose();
      this.views.delete(id);
    }
    const fresh = [];
    const build = (node) => {
      if (!node) return [];
      if (node.id) {
        let v = this.views.get(node.id);
        if (!v) {
          v = new TerminalView(this.app, node.id, { decides: !this.app.touch.matches });
          this.views.set(node.id, v);
          fresh.push(v);
        }
        v.element.classList.toggle('current', node.id === this.chosen);
        return v.element;
      }
      const split = h('div', { className: `split ${node.axis}` }, build(node.first), build(node.second));
      split.firstChild.style.flexGrow = node.share;
      split.lastChild.style.flexGrow = 10000 - node.share;
      return split;
    };
    const top = build(shape);
    if (top instanceof Node) top.style.flexGrow = 1;
    this.stage.replaceChildren(...[top].flat());
    for (const v of fresh) {
      v.open();
      swipe(v.head, (step) => this.step(step));
    }
    if (!this.app.touch.matches && document.activeElement === document.body) this.focusedView?.focus();
  }

  // step goes to the next session, or the one before.
  step(by) {
    const ids = this.all().map((p) => p.id);
    const i = ids.indexOf(this.chosen);
    if (ids.length > 1) this.choose(ids[(i + by + ids.length) % ids.length], true);
  }

  // see tells that the person has looked at what an agent has done.
  see() {
    const p = this.app.store.processes.get(this.chosen);
    if (this.app.me.read_only || document.hidden || !p?.agent || p.agent.state !== 'done' || p.agent.seen || this.seen === p.agent.since) return;
    this.seen = p.agent.since;
    this.app.api.call('agent.seen', { id: p.id, since: p.agent.since }).catch(() => {}); // it is marked the next time
  }

  async create() {
    const p = await this.app.attempt('session.start', { cwd_of: this.chosen || undefined });
    if (!p) return;
    this.app.store.processes.set(p.id, p);
    this.choose(p.id, true);
  }

  async rename(id) {
    const p = this.app.store.processes.get(id);
    if (!p || this.app.me.read_only) return;
    const name = h('input', { name: 'name', value: p.name, required: true, maxLength: 64, autocomplete: 'off', spellcheck: false, autocapitalize: 'off' });
    const data = await ask(text.renameQuestion(p.name), { yes: text.rename, no: text.cancel, fields: [h('label', {}, text.newName, name)] });
    if (data && data.get('name') !== p.name) await this.app.attempt('session.rename', { id, name: data.get('name') });
  }

  async end(id) {
    const p = this.app.store.processes.get(id);
    if (!p) return;
    if (ended(p)) {
      await this.app.attempt('process.remove', { id });
      return;
    }
    if (await ask(text.endSession, { detail: text.endQuestion(p.name), yes: text.endSession, no: text.cancel, danger: true })) await this.app.attempt('session.kill', { id });
  }

  dispose() {
    for (const v of this.views.values()) v.dispose();
    this.views.clear();
  }
}

// tree makes splits of their list (api.LayoutTab), without panes whose sessions are gone.
function tree(nodes, there) {
  let at = 0;
  const read = () => {
    const n = nodes[at++];
    if (!n) return null;
    if (n.axis !== 'beside' && n.axis !== 'below') return there.has(n.id) ? { id: n.id } : null;
    const first = read();
    const second = read();
    return first && second ? { axis: n.axis, share: n.share || 5000, first, second } : first || second;
  };
  return read();
}

function leaves(node) {
  if (!node) return [];
  return node.id ? [node.id] : [...leaves(node.first), ...leaves(node.second)];
}

