import { text } from './strings.js';
import { ask, h, icon, keyed, say, set } from './dom.js';
import { Api, leave } from './api.js';
import { Store } from './store.js';
import { settings } from './settings.js';
import { Sessions } from './sessions.js';
import { Processes } from './processes.js';
import { History } from './history.js';
import { Requests } from './requests.js';
import { Machines } from './machines.js';
import { Output } from './output.js';
import { KeyBar } from './keybar.js';
import { swipe } from './touch.js';
import { keepPlace, lastPlace } from './place.js';
import * as push from './push.js';

// An App is the page of a browser that was let in.
export class App {
  constructor(root, me, onRevoked) {
    this.root = root;
    this.me = me;
    this.onRevoked = onRevoked;
    this.narrow = matchMedia('(max-width: 760px)');
    this.touch = matchMedia('(pointer: coarse)');
    this.machines = new Map();
    this.here = new Api('');
    this.onResize = () => this.fitViewport();
    this.onKey = (e) => {
      const view = !e.defaultPrevented && this.shortcut(e);
      if (!view) return;
      e.preventDefault();
      this.go(view);
    };
    this.redraw = () => this.draw();
  }

  open() {
    this.make();
    const { host, ...place } = lastPlace();
    this.connect(host || '', place);
    this.onResize();
    visualViewport?.addEventListener('resize', this.onResize);
    visualViewport?.addEventListener('scroll', this.onResize);
    addEventListener('keydown', this.onKey);
    document.addEventListener('visibilitychange', this.redraw);
    this.narrow.addEventListener('change', this.redraw);
  }

  close() {
    visualViewport?.removeEventListener('resize', this.onResize);
    visualViewport?.removeEventListener('scroll', this.onResize);
    removeEventListener('keydown', this.onKey);
    document.removeEventListener('visibilitychange', this.redraw);
    this.narrow.removeEventListener('change', this.redraw);
    this.disconnect();
  }

  // connect shows what an engine has: this machine's, or that of another one.
  connect(host, { view = 'sessions', session, process } = {}) {
    this.disconnect();
    this.api = new Api(host);
    this.store = new Store(this.api);
    this.store.addEventListener('change', () => this.draw());
    this.store.addEventListener('revoked', () => this.onRevoked());
    this.store.addEventListener('notice', (e) => say(e.detail));
    const link = Boolean(this.me.session);
    this.views = link ? [new Sessions(this)] : [new Sessions(this), new Processes(this), new History(this), new Requests(this), new Machines(this), new Output(this)];
    if (session && !link) this.view('sessions').chosen = session;
    if (process && !link) this.view('processes').chosen = process;
    this.main.replaceChildren(...this.views.map((v) => v.element));
    this.side.replaceChildren(this.views[0].list);
    this.keyBar = new KeyBar(this);
    this.keys.replaceChildren(this.keyBar.element);
    this.show(this.view(view) ? view : 'sessions');
    this.store.open();
    if (!link) this.fetchMachines();
  }

  disconnect() {
    this.store?.watchUsage(false);
    this.store?.close();
    for (const v of this.views || []) v.dispose?.();
  }

  make() {
    const link = Boolean(this.me.session);
    this.tabs = new Map();
    const tab = (id, name) => {
      const badge = h('span', { className: 'badge', hidden: true });
      const b = h('button', { type: 'button', id: `tab-${id}`, onclick: () => this.show(id) }, h('span', {}, name), badge);
      this.tabs.set(id, { button: b, badge });
      return b;
    };
    const names = ['sessions', 'processes', 'history', 'requests', 'machines', 'output'];
    this.nav = h('nav', { 'aria-label': text.views, hidden: link }, ...names.map((n) => tab(n, text[n])));
    this.machine = h('select', { 'aria-label': text.machine, hidden: true, onchange: () => this.connect(this.machine.value) });
    this.sheet = h('button', { type: 'button', className: 'quiet sheet', 'aria-label': text.sheet, 'aria-expanded': 'false', hidden: link, onclick: () => this.openSheet() }, icon('menu'));
    this.title = h('button', { type: 'button', className: 'link title', title: text.rename, disabled: this.me.read_only, onclick: () => this.view('sessions').rename(this.view('sessions').chosen) });
    this.state = h('p', { className: 'away', role: 'status', 'aria-live': 'polite', hidden: true });
    this.side = h('aside', { 'aria-label': text.sessions });
    this.main = h('main', {});
    this.keys = h('div', { className: 'keys' });
    this.root.replaceChildren(h('div', { className: link ? 'page link' : 'page' },
      h('header', { className: 'top' }, this.sheet, this.nav, this.title, h('span', { className: 'grow' }), this.machine,
        h('button', { type: 'button', className: 'quiet', 'aria-label': text.settings, title: text.settings, onclick: () => this.settings() }, icon('settings'))),
      this.state, h('div', { className: 'body' }, this.side, this.main), this.keys));
    swipe(this.title, (step) => this.view('sessions').step(step));
    this.side.addEventListener('click', (e) => { if (e.target.closest('button')) this.closeSheet(); });
    this.main.addEventListener('pointerdown', () => this.closeSheet());
  }

  openSheet() {
    const on = this.root.firstChild.classList.toggle('sheet-open');
    this.sheet.setAttribute('aria-expanded', String(on));
    if (on) this.side.querySelector('button')?.focus();
  }

  closeSheet() {
    this.root.firstChild.classList.remove('sheet-open');
    this.sheet.setAttribute('aria-expanded', 'false');
  }

  view(id) { return this.views.find((v) => v.id === id); }

  show(id) {
    this.current = id;
    for (const v of this.views) v.element.hidden = v.id !== id;
    for (const [name, { button }] of this.tabs) {
      if (name === id) button.setAttribute('aria-current', 'page');
      else button.removeAttribute('aria-current');
    }
    this.root.firstChild.dataset.view = id;
    this.view(id).shown?.();
    this.draw();
  }

  draw() {
    const { store } = this;
    set(this.state, store.away || (store.known ? '' : text.loading));
    this.state.hidden = !this.state.textContent;
    const n = store.requests.size;
    const { badge } = this.tabs.get('requests');
    set(badge, n ? String(n) : '');
    badge.hidden = !n;
    badge.setAttribute('aria-label', n ? text.waiting(n) : '');
    const wants = n + store.sessions().filter((p) => p.agent?.state === 'blocked').length;
    document.title = `${wants ? `(${wants}) ` : ''}Tandem`;
    const seen = this.current === 'processes' && !document.hidden && store.known; // a browser has six connections for all of its tabs
    store.watchUsage(seen);
    this.view('processes')?.watch(seen);
    if (!this.api.host) for (const [name, m] of store.machines) this.machines.set(name, m); // another one has others
    this.drawMachines();
    for (const v of this.views) if (v.id === this.current || v.always) v.draw();
    this.keyBar.draw();
    if (store.known) keepPlace({ host: this.api.host, view: this.current, session: this.view('sessions').chosen, process: this.view('processes')?.chosen });
  }

  async fetchMachines() {
    try {
      const { machines } = await this.here.call('machine.list', {});
      for (const m of machines || []) this.machines.set(m.name, m);
      if (this.api.host && !this.machines.has(this.api.host)) this.connect(''); // it was removed
      else this.draw();
    } catch { /* without it there are those that events tell of */ }
  }

  allMachines() { return [...this.machines.values()].sort((a, b) => a.name.localeCompare(b.name)); }

  drawMachines() {
    const all = [{ name: '' }, ...this.allMachines()];
    this.machine.hidden = all.length < 2;
    this.tabs.get('machines').button.hidden = all.length < 2;
    keyed(this.machine, all, (m) => m.name, (m) => h('option', { value: m.name }), (e, m) => {
      set(e, m.name ? `${m.name} (${text.machineState[m.state] || m.state})` : text.thisMachine);
      e.selected = m.name === (this.api.host || '');
    });
  }

  // fitViewport keeps the page above a phone's keyboard.
  fitViewport() {
    const v = visualViewport;
    if (!v) return;
    const { style } = document.documentElement;
    style.setProperty('--height', `${v.height}px`);
    style.setProperty('--top', `${v.offsetTop}px`);
    this.root.firstChild.classList.toggle('typing', this.touch.matches && innerHeight - v.height > 120);
  }

  // shortcut is the view that a key means everywhere.
  shortcut(e) {
    if (e.type !== 'keydown' || !e.altKey || e.ctrlKey || e.metaKey) return undefined;
    return this.views[['Digit1', 'Digit2', 'Digit3', 'Digit4', 'Digit5', 'Digit6'].indexOf(e.code)];
  }

  // go shows a view and gives it the keyboard. From a terminal, which keeps the tab key for its
  // program, its own view's key leads to the list beside it.
  go(view) {
    const out = view.id === this.current && view.element.contains(document.activeElement) && view.leave;
    this.show(view.id);
    if (out) view.leave();
    else view.enter();
  }

  get terminal() { return this.view('sessions')?.focusedView; }

  focused(view) { this.view('sessions').focusedOn(view); }

  selected() { this.keyBar.draw(); }

  modified() { this.keyBar.draw(); }

  async settings() {
    const told = this.me.read_only ? '' : await push.state().catch(() => 'impossible');
    const may = told === 'on' || told === 'off';
    const reader = h('input', { type: 'checkbox', name: 'reader', checked: settings.screenReader });
    const font = h('input', { type: 'number', name: 'size', min: 8, max: 24, value: settings.fontSize });
    const notify = h('input', { type: 'checkbox', name: 'notify', checked: told === 'on', disabled: !may });
    const data = await ask(text.settings, {
      detail: text.version(this.me.version), yes: text.keep, no: text.cancel,
      fields: [h('label', {}, text.fontSize, font), h('label', { className: 'check' }, reader, text.screenReader),
        told && h('label', { className: 'check' }, notify, text.notify), text.notifyState[told] && h('p', { className: 'hint' }, text.notifyState[told]),
        h('button', { type: 'button', className: 'quiet', onclick: () => this.forget() }, text.leave)],
    });
    if (!data) return;
    if (may && data.has('notify') !== (told === 'on')) this.notify(data.has('notify'));
    settings.screenReader = data.has('reader');
    settings.fontSize = Number(data.get('size'));
    this.connect(this.api.host, lastPlace());
  }

  async notify(on) {
    try {
      if (await push.turn(on) === 'refused') say(text.notifyState.refused, true);
    } catch (err) {
      say(err.message, true);
    }
  }

  async forget() {
    try {
      await push.turn(false).catch(() => {}); // it had none
      await leave();
    } catch { /* it is not known any more, or the server has gone: either way it leaves */ }
    document.querySelector('dialog')?.close();
    this.onRevoked();
  }

  // attempt calls an operation and says what was wrong.
  attempt(operation, input) { return this.attemptOn(this.api, operation, input); }

  attemptHere(operation, input) { return this.attemptOn(this.here, operation, input); }

  async attemptOn(api, operation, input) {
    try {
      return await api.call(operation, input);
    } catch (err) {
      say(err.hint ? `${err.message}; ${err.hint}` : err.message, true);
      return null;
    }
  }
}
