import { text } from './strings.js';
import { arrows, ask, h, keyed, set, size, span } from './dom.js';
import { commandText, ended, failed, stateText, who } from './store.js';
import { Log } from './log.js';

const columns = ['name', 'status', 'cpu', 'memory', 'ports', 'restarts', 'up', 'who'];

// makeHeader makes the row above the processes of a project.
function makeHeader() {
  return h('tr', { className: 'project' }, h('th', { scope: 'rowgroup', colSpan: columns.length },
    h('span', { className: 'name' }), h('span', { className: 'count' }), h('span', { className: 'folder' })));
}

function drawHeader(e, { file, folder, name, members }) {
  const [title, count, place] = e.firstChild.children;
  const bad = members.filter((p) => failed(p) || p.state === 'backoff').length;
  const up = members.filter((p) => p.state === 'running').length;
  const done = members.filter((p) => p.state === 'exited' && !failed(p)).length;
  set(title, file ? name : text.noProject);
  set(count, [text.upOf(up, members.length - done), bad && text.someFailed(bad)].filter(Boolean).join(', '));
  set(place, folder);
}

// Processes is the table of processes, and the log of the chosen one.
export class Processes {
  constructor(app) {
    this.app = app;
    this.id = 'processes';
    this.chosen = '';
    this.body = h('tbody', {});
    arrows(this.body, 'button');
    this.log = new Log(app);
    this.empty = h('p', { className: 'empty', hidden: true }, text.noProcesses);
    const may = !app.me.read_only;
    this.tools = h('div', { className: 'tools' }, may && h('button', { type: 'button', onclick: () => this.start() }, `+ ${text.newProcess}`));
    this.actions = h('span', { className: 'actions', hidden: !may });
    this.detail = h('div', { className: 'detail', hidden: true }, h('header', {}, this.title = h('h2', {}), h('span', { className: 'grow' }), this.actions,
      h('button', { type: 'button', className: 'quiet', 'aria-label': text.close, onclick: () => this.choose('') }, '×')),
    this.command = h('p', { className: 'command' }), this.log.element);
    this.stopButton = h('button', { type: 'button', onclick: () => this.stop() }, text.stop);
    this.restartButton = h('button', { type: 'button', onclick: () => this.restart() }, text.restart);
    this.actions.append(this.restartButton, this.stopButton);
    this.element = h('section', { className: 'view processes', 'aria-label': text.processes },
      h('div', { className: 'table' }, this.tools, h('table', {}, h('thead', {}, h('tr', {}, ...columns.map((c) => h('th', { scope: 'col', className: c }, text[c])))), this.body), this.empty),
      this.detail);
  }

  draw() {
    const projects = this.app.store.projects();
    const named = projects.some((g) => g.file);
    this.empty.hidden = projects.length > 0;
    const rows = projects.flatMap((g) => (named ? [g, ...g.members] : g.members));
    keyed(this.body, rows, (r) => r.id || `project ${r.file}`, (r) => (r.members ? makeHeader() : this.makeRow(r)), (e, r) => (r.members ? drawHeader(e, r) : this.drawRow(e, r)));
    const p = this.app.store.processes.get(this.chosen);
    this.detail.hidden = !p;
    this.element.classList.toggle('open', Boolean(p));
    if (!p) return;
    set(this.title, p.name);
    set(this.command, commandText(p));
    set(this.restartButton, ended(p) ? text.start : text.restart);
    this.stopButton.hidden = ended(p);
    this.log.note(p);
  }

  enter() { (this.body.querySelector('.chosen button') || this.body.querySelector('button') || this.element.querySelector('button'))?.focus(); }

  makeRow(p) {
    const cells = columns.slice(1).map((c) => h('td', { className: c }));
    const name = h('button', { type: 'button', className: 'link', onclick: (e) => { e.stopPropagation(); this.choose(p.id); } });
    return h('tr', { onclick: () => this.choose(p.id) }, h('th', { scope: 'row' }, name), ...cells);
  }

  drawRow(e, p) {
    const [name, status, cpu, memory, ports, restarts, up, actor] = e.children;
    const usage = ended(p) ? null : this.app.store.usage.get(p.id);
    set(name.firstChild, p.name);
    set(status, stateText(p));
    status.className = `status ${failed(p) ? 'failed' : p.supervision?.ready === false ? 'notready' : p.state}`;
    set(cpu, usage ? `${usage.cpu.toFixed(usage.cpu < 10 ? 1 : 0)} %` : '');
    set(memory, usage ? size(usage.rss, text.units) : '');
    set(ports, (usage?.ports || []).join(' '));
    set(restarts, p.supervision?.auto_restarts ? String(p.supervision.auto_restarts) : '');
    set(up, p.state === 'running' ? span(p.started_at) : '');
    set(actor, who(p.actor));
    e.classList.toggle('chosen', p.id === this.chosen);
  }

  choose(id) {
    this.chosen = id;
    this.log.show(id);
    this.draw();
  }

  // watch follows the log while somebody can see it.
  watch(on) {
    if (on === Boolean(this.watched)) return;
    this.watched = on;
    if (on) this.log.begin(this.app.store.processes.has(this.chosen) ? this.chosen : '');
    else this.log.stop();
  }

  async stop() {
    const p = this.app.store.processes.get(this.chosen);
    if (await ask(text.stopQuestion(p.name), { detail: text.stopDetail, yes: text.stop, no: text.cancel, danger: true })) await this.app.attempt('process.stop', { id: p.id });
  }

  async restart() {
    const p = this.app.store.processes.get(this.chosen);
    if (ended(p) || await ask(text.restartQuestion(p.name), { yes: text.restart, no: text.cancel })) await this.app.attempt('process.restart', { id: p.id });
  }

  async start() {
    const data = await ask(text.newProcess, {
      yes: text.start, no: text.cancel,
      fields: [h('label', {}, text.command, h('input', { name: 'command', required: true, autocomplete: 'off', spellcheck: false, autocapitalize: 'off' })),
        h('label', {}, text.name, h('input', { name: 'name', autocomplete: 'off', spellcheck: false, autocapitalize: 'off' })),
        h('label', {}, text.folder, h('input', { name: 'cwd', autocomplete: 'off', spellcheck: false, autocapitalize: 'off' })),
        h('label', { className: 'check' }, h('input', { type: 'checkbox', name: 'keep' }), text.keepAlive)],
    });
    if (!data) return;
    const p = await this.app.attempt('process.start', {
      command: ['/bin/sh', '-c', data.get('command')], name: data.get('name') || undefined, cwd: data.get('cwd') || undefined, keep_alive: data.has('keep'),
    });
    if (p) this.choose(p.id);
  }

  dispose() { this.log.stop(); }
}
