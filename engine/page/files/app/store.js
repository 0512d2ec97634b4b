import { text } from './strings.js';
import { me, Refused } from './api.js';

const retryFirst = 200;
const retryMost = 5000;

// A Store is what the page knows of one engine, as its events tell it.
export class Store extends EventTarget {
  constructor(api) {
    super();
    this.api = api;
    this.processes = new Map();
    this.requests = new Map();
    this.machines = new Map();
    this.usage = new Map();
    this.layout = null;
    this.layoutRevision = 0;
    this.away = '';
    this.known = false; // a snapshot has come
    this.histories = 0;
    this.retry = retryFirst;
    this.changed = false;
  }

  open() {
    this.source = this.api.events({
      message: (e) => this.take(e),
      away: (e) => this.setAway(text.away(e.error || text.engineAway)),
      lost: () => this.lost(),
    });
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  // lost asks whether this browser is still let in, and opens the stream again.
  lost() {
    this.close();
    this.setAway(text.away(text.serverAway));
    this.timer = setTimeout(async () => {
      try {
        await me();
        this.open();
      } catch (err) {
        if (err instanceof Refused && err.status === 401) this.dispatchEvent(new Event('revoked'));
        else this.lost();
      }
    }, this.retry);
    this.retry = Math.min(this.retry * 2, retryMost);
  }

  take(e) {
    switch (e.type) {
      case 'snapshot':
        this.processes = new Map((e.processes || []).map((p) => [p.id, p]));
        this.requests.clear();
        this.layout = e.layout || null;
        this.layoutRevision = e.revision || 0;
        this.info = e.info;
        this.known = true;
        this.retry = retryFirst;
        this.setAway('');
        break;
      case 'process': this.processes.set(e.process.id, e.process); break;
      case 'removed': this.processes.delete(e.id); break;
      case 'request':
        if (e.request.answer) this.requests.delete(e.request.id);
        else this.requests.set(e.request.id, e.request);
        break;
      case 'history': this.histories = e.history; break;
      case 'machine': this.machines.set(e.machine.name, e.machine); break;
      case 'layout': this.fetchLayout(e.revision || 0); break;
      case 'notice': this.dispatchEvent(new CustomEvent('notice', { detail: e.notice })); break;
    }
    this.change();
  }

  // fetchLayout asks for the layout after a change. An answer may know of later ones.
  async fetchLayout(revision) {
    if (revision <= this.layoutRevision) return;
    const o = await this.api.call('layout.get').catch(() => null);
    if (!o || o.revision < this.layoutRevision) return;
    this.layout = o.current || null;
    this.layoutRevision = o.revision;
    this.change();
  }

  setAway(why) {
    if (why === this.away) return;
    this.away = why;
    this.change();
  }

  // change tells those who draw, once for all that came at the same time.
  change() {
    if (this.changed) return;
    this.changed = true;
    setTimeout(() => {
      this.changed = false;
      this.dispatchEvent(new Event('change'));
    });
  }

  watchUsage(on) {
    if (on === Boolean(this.usageSource)) return;
    clearTimeout(this.usageTimer);
    this.usageSource?.close();
    this.usageSource = null;
    if (on) this.openUsage();
  }

  openUsage() {
    this.usageSource = this.api.usage({
      message: (all) => {
        this.usage = new Map(all.map((u) => [u.id, u]));
        this.change();
      },
      lost: () => { this.usageTimer = setTimeout(() => this.openUsage(), retryMost); },
    });
  }

  // sessions are those to list, running ones first.
  sessions() {
    const closed = new Set(this.layout?.closed || []);
    const all = [...this.processes.values()].filter((p) => p.kind === 'session' && !closed.has(p.id) && !(p.supervision?.transient && ended(p)));
    return all.sort((a, b) => ended(a) - ended(b));
  }

  // projects are the processes by their project file and name, those of none last. One-shot commands
  // are left out.
  projects() {
    const all = new Map();
    for (const p of this.processes.values()) {
      if (p.kind !== 'process' || p.supervision?.transient) continue;
      const file = p.project?.file || '';
      const folder = file.replace(/\/[^/]*$/, '');
      if (!all.has(file)) all.set(file, { file, folder, name: p.project?.project || folder.replace(/.*\//, ''), members: [] });
      all.get(file).members.push(p);
    }
    for (const { members } of all.values()) members.sort((a, b) => a.name.localeCompare(b.name) || a.id.localeCompare(b.id));
    return [...all.values()].sort((a, b) => !a.file - !b.file || a.name.localeCompare(b.name) || a.file.localeCompare(b.file));
  }
}

export const ended = (p) => p.state === 'stopped' || p.state === 'exited' || p.state === 'failed';

// The words for states are those of the dashboard (panes/states/process.go).

// failed reports whether a process ended by itself and not well, as far as anybody knows.
export function failed(p) {
  if (p.interrupted) return false;
  if (p.state !== 'exited') return p.state === 'failed';
  return !known(p.exit_code) || p.exit_code !== 0 && !leftShell(p);
}

const known = (value) => value !== null && value !== undefined;

const shellStart = 3000; // a shell that lives shorter failed to start
const shells = ['bash', 'zsh', 'fish', 'sh', 'dash', 'ksh', 'mksh', 'ash'];
const shellFlags = ['-l', '-i', '--login', '-il', '-li'];

// leftShell reports whether a session is an interactive shell that somebody left: its exit
// status is that of the last command in it.
function leftShell(p) {
  if (p.kind !== 'session' || !p.argv?.length || !p.exited_at || new Date(p.exited_at) - new Date(p.started_at) < shellStart) return false;
  return p.argv.slice(1).every((arg) => shellFlags.includes(arg)) && shells.includes(p.argv[0].replace(/.*\//, '').replace(/^-/, ''));
}

// stateText says what state a process is in.
export function stateText(p, now = Date.now()) {
  const ready = p.supervision?.ready;
  if (p.interrupted) return text.interrupted;
  if (failed(p) && known(p.exit_code)) return text.failedHow(text.exited(p.exit_code));
  if (failed(p) && p.exit_signal && !p.error) return text.failedHow(p.exit_signal);
  if (failed(p) && p.exit_unknown) return text.exitUnknown;
  if (p.state === 'backoff') return restartText(p, now);
  if (p.state === 'waiting' && p.waits_for?.length) return text.waitsFor(p.waits_for.map((d) => d.name || d.id).join(', '));
  if (p.state === 'running' && known(ready)) return ready ? text.ready : text.notReady;
  if (p.state === 'exited' && known(p.exit_code)) return text.exited(p.exit_code);
  return p.state;
}

function restartText(p, now) {
  if (!p.supervision?.next_start) return text.waitsToRestart;
  const wait = new Date(p.supervision.next_start) - now;
  if (wait < 1000) return text.restartsNow;
  const seconds = Math.ceil(wait / 1000);
  return text.restartsIn(seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m`);
}

// endText says in words how a session or process ended.
export function endText(p) {
  if (p.interrupted) return text.interruptedHow(p.interrupted.by === 'reboot', p.interrupted.program);
  if (p.error) return p.error;
  if (known(p.exit_code)) return text.exitedWith(p.exit_code);
  if (p.exit_signal) return text.endedBy(p.exit_signal);
  return p.exit_unknown ? text.exitedSomehow : text.exitedPlain;
}

// shownName is the name of a session, or what runs in it if nobody has named it.
export const shownName = (p) => (p.terminal?.auto_named && p.terminal.running) || p.name;

// commandText is the command of a process, or the line itself if a shell runs one.
export function commandText(p) {
  const [program, flag, line] = p.argv || [];
  return p.argv?.length === 3 && /^-[a-z]*c$/.test(flag) && shells.includes(program.replace(/.*\//, '')) ? line : p.command;
}

// who is the name of an actor.
export const who = (actor) => (actor === 'person' ? text.you : (actor || '').replace(/^agent:/, ''));

// commandMark is the mark of how a command of the history ended, and its class.
export function commandMark(c) {
  if (c.stopped) return ['■', ''];
  if (c.exit_signal || c.exit_code > 0) return ['✗', 'failed'];
  return [known(c.exit_code) ? '✓' : '', 'done'];
}
