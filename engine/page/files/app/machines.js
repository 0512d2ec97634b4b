import { text } from './strings.js';
import { arrows, h, keyed, set, span } from './dom.js';

// Machines are the other machines of config.toml: how they are, and what is there.
export class Machines {
  constructor(app) {
    this.app = app;
    this.id = 'machines';
    this.rows = h('ul', { className: 'machines' });
    this.element = h('section', { className: 'view', 'aria-label': text.machines }, this.rows);
    arrows(this.rows, 'button:first-of-type');
  }

  shown() { this.app.fetchMachines(); }

  enter() { this.rows.querySelector('button')?.focus(); }

  draw() {
    keyed(this.rows, [{ name: '', state: 'connected' }, ...this.app.allMachines()], (m) => m.name, (m) => this.makeRow(m.name), (e, m) => this.drawRow(e, m));
  }

  makeRow(name) {
    const open = h('button', { type: 'button', onclick: () => this.app.connect(name) }, text.open);
    const connect = h('button', { type: 'button', onclick: () => this.connect(name) }, text.connect);
    return h('li', {}, h('span', { className: 'mark', 'aria-hidden': 'true' }), h('span', { className: 'name' }), h('span', { className: 'state' }), open, connect);
  }

  drawRow(e, m) {
    const [mark, name, state, open, connect] = e.children;
    const up = m.state === 'connected';
    const here = m.name === (this.app.api.host || '');
    set(mark, up ? '●' : m.state === 'needs_you' ? '◆' : '○');
    mark.className = `mark ${up ? 'running' : m.state === 'needs_you' ? 'blocked' : 'stopped'}`;
    set(name, m.name || text.thisMachine);
    set(state, here ? text.shownNow : this.how(m));
    open.hidden = !up || here;
    connect.hidden = up || this.app.me.read_only;
  }

  // how is how it is with a machine: how fast, in which version, or why not.
  how(m) {
    if (!m.name) return '';
    if (m.state === 'connected') return [text.machineState.connected, m.rtt_ms && text.milliseconds(m.rtt_ms), m.version].filter(Boolean).join(' · ');
    const away = m.state === 'away' && m.last_seen ? text.awayFor(span(m.last_seen)) : text.machineState[m.state] || m.state;
    return [away, m.error].filter(Boolean).join(': ');
  }

  async connect(name) {
    const m = await this.app.attemptHere('machine.connect', { name });
    if (m) this.app.machines.set(m.name, m);
    this.app.draw();
  }
}
