// What the page asks of `tandem web`.
import * as proof from './proof.js';
import { text } from './strings.js';

export class Refused extends Error {
  constructor(status, body) {
    super(body.error || `status ${status}`);
    this.status = status;
    this.code = body.code;
    this.reason = body.reason;
    this.hint = body.hint;
  }
}

async function send(method, path, { body, bearer, signal } = {}) {
  const headers = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  const answer = await fetch(path, { method, signal, headers, credentials: 'same-origin', cache: 'no-store', body: body === undefined ? undefined : JSON.stringify(body) });
  if (answer.ok) return answer;
  const json = (answer.headers.get('Content-Type') || '').startsWith('application/json');
  throw new Refused(answer.status, json ? await answer.json() : {});
}

const read = async (answer) => (answer.status === 204 ? {} : answer.json());

// A session is what a proof of this browser's key was answered with. It is in memory only: neither
// a cookie, which goes to every port of the host, nor a thing that another page here could find.
let session = null;
let proving = null;

async function prove() {
  const own = await proof.kept();
  const { nonce, pair_again: again } = await read(await send('POST', 'session', { body: {} }));
  if (!own) throw new Refused(401, { error: again ? text.pairAgain : '', code: again ? 'pair_again' : '' });
  const body = { device: own.device, nonce, signature: await proof.sign(own, nonce) };
  const { bearer, seconds, me: now } = await read(await send('POST', 'session', { body }));
  return { bearer, me: now, until: Date.now() + seconds * 500 }; // it is renewed at half its time
}

// proven gives a session that is good, one at a time for all who ask.
async function proven() {
  if (session && Date.now() < session.until) return session;
  proving ||= prove().finally(() => { proving = null; });
  session = await proving;
  return session;
}

// ask sends a request with the session's bearer; once more if the server does not know that any more.
async function ask(method, path, body, signal) {
  const { bearer } = await proven();
  try {
    return await send(method, path, { body, bearer, signal });
  } catch (err) {
    if (err.status !== 401) throw err;
    doubt(bearer);
    return send(method, path, { body, bearer: (await proven()).bearer, signal });
  }
}

// doubt has the next request prove the key again.
function doubt(bearer) {
  if (session?.bearer === bearer) session = null;
}

export async function pair(code) {
  const { key, told } = await proof.make();
  await proof.kept(); // where nothing can be kept, the code is not used up
  const now = await read(await send('POST', 'pair', { body: { code, key: told } }));
  await proof.keep(now.session || '', now.device, key);
  session = null;
  return now;
}

export async function me() {
  session = null;
  return (await proven()).me;
}

export async function leave() {
  await ask('POST', 'leave', {});
  await proof.forget();
}

export const pushing = async () => read(await ask('GET', 'push'));
export const subscribe = (subscription) => ask('POST', 'push', { subscription });

// A Stream reads server-sent events, as an EventSource would if that could send a bearer.
class Stream {
  constructor(path, { message, away, lost }) {
    this.ending = new AbortController();
    this.on = { message, away };
    this.run(path).catch(() => {}).finally(() => { if (!this.ending.signal.aborted) lost(); });
  }

  async run(path) {
    const answer = await ask('GET', path, undefined, this.ending.signal);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const events = (rest + value).split('\n\n');
      rest = events.pop();
      events.forEach((e) => this.take(e));
    }
  }

  take(event) {
    const field = (name) => event.split('\n').find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field('data');
    if (data) this.on[field('event') || 'message']?.(JSON.parse(data));
  }

  close() { this.ending.abort(); }
}

export class Api {
  constructor(host) { this.host = host; }

  query(more = {}) {
    const q = new URLSearchParams(more);
    if (this.host) q.set('host', this.host);
    const out = q.toString();
    return out ? `?${out}` : '';
  }

  async call(operation, input = {}, signal) { return read(await ask('POST', `call/${operation}${this.query()}`, input, signal)); }

  events(on) { return new Stream(`events${this.query()}`, on); }

  usage(on) { return new Stream(`usage${this.query()}`, on); }

  async attach(id, cols, rows) {
    const at = new URL(`attach${this.query({ id, cols, rows })}`, location.href);
    at.protocol = at.protocol === 'https:' ? 'wss:' : 'ws:';
    const { bearer } = await proven();
    const socket = new WebSocket(at, ['tandem', `bearer.${bearer}`]);
    socket.binaryType = 'arraybuffer';
    let open = false;
    socket.addEventListener('open', () => { open = true; });
    socket.addEventListener('close', () => { if (!open) doubt(bearer); });
    return socket;
  }
}
