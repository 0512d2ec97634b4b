// Every text that the page shows.
export const text = {
  sessions: 'Sessions', processes: 'Processes', history: 'History', requests: 'Requests', machines: 'Machines',
  views: 'Views', machine: 'Machine', thisMachine: 'this machine', settings: 'Settings',

  notPaired: 'This browser is not paired',
  howToPair: 'Run this where Tandem runs, then open the link that it prints:',
  pairCommand: 'tandem web',
  revoked: 'This browser was revoked',
  linkOver: 'This link has expired',
  badCode: 'The link did not work',
  again: 'Try again', leave: 'Forget this browser',

  away: (why) => `away: ${why}`,
  serverAway: 'tandem web does not answer',
  engineAway: 'the engine does not answer',
  back: 'reconnected', loading: 'Connecting…',

  noSessions: 'No sessions yet.', newSession: 'New session', rename: 'Rename', renameQuestion: (name) => `Rename ${name}`, endSession: 'End session',
  endQuestion: (name) => `End ${name} and everything that runs in it?`,
  newName: 'Name', ended: (how) => `This session has ended (${how}).`,
  readOnly: 'read-only', typedLast: (who) => `${who} typed last`,
  locked: "agents can't type here", lock: 'Keep agents from typing', unlock: 'Let agents type',
  find: 'Find in scrollback', next: 'Next match', previous: 'Previous match', close: 'Close',
  matches: (n, of) => (of ? `${n} of ${of}` : 'no matches'),
  copied: 'Copied', cannotCopy: 'The browser does not allow copying here.', cannotPaste: 'The browser does not allow pasting here. Use its own paste.',
  terminal: (name) => `Terminal ${name}`, tab: (n) => `Tab ${n}`,

  agent: { working: 'working', blocked: 'needs you', done: 'done', idle: 'idle', unknown: '' },
  state: {
    waiting: 'waiting', starting: 'starting', running: 'running', backoff: 'restarting soon',
    stopping: 'stopping', stopped: 'stopped', exited: 'exited', failed: 'failed',
  },
  exitedWith: (code) => `exited with ${code}`, endedBy: (signal) => `ended by ${signal}`, rang: 'rang',
  waitsFor: (names) => `waiting for ${names}`, notReady: 'not ready yet',

  name: 'Name', status: 'State', cpu: 'CPU', memory: 'Memory', ports: 'Ports', restarts: 'Restarts', up: 'Up',
  noProcesses: 'No processes yet.', newProcess: 'Start a process', command: 'Command', folder: 'Folder',
  keepAlive: 'Restart it whenever it ends', start: 'Start', stop: 'Stop', restart: 'Restart', cancel: 'Cancel', keep: 'Save',
  stopQuestion: (name) => `Stop ${name}?`, stopDetail: 'Stops it and everything it started. It will not be restarted.',
  restartQuestion: (name) => `Restart ${name}?`, log: 'Log', follow: 'Follow', searchLog: 'Search the log (regular expression)',
  noOutput: 'No output yet.', older: 'Older output is not shown.',

  searchHistory: 'Search commands', noHistory: 'No commands found.', insert: 'insert at the prompt',
  noPrompt: 'Open a session first.', failedWith: (code) => `exit ${code}`,

  noRequests: 'Nothing waits for your answer.', allow: 'Allow', deny: 'Deny',
  asks: (who, tool) => `${who} wants to call ${tool}`, expires: (when) => `refused at ${when} unless you answer`,
  inFolder: (folder) => `in ${folder}`, rule: (rule) => `rule: ${rule}`, gone: 'Already answered, or it timed out.',
  waiting: (n) => (n === 1 ? '1 request waits for you' : `${n} requests wait for you`),

  machineState: { connected: 'connected', connecting: 'connecting', away: 'away', needs_you: 'needs you' },
  notify: 'Notify this device when something needs you',
  notifyState: { refused: 'The browser does not allow notifications here.', impossible: 'This browser has no notifications here. They need a certificate that it trusts; on an iPhone, add the page to the home screen first.' },
  open: 'Open', connect: 'Connect', shownNow: 'shown here now', awayFor: (time) => `away for ${time}`, milliseconds: (ms) => `${ms < 1 ? '<1' : Math.round(ms)} ms`,
  screenReader: 'Screen reader mode', fontSize: 'Font size', version: (v) => `Tandem ${v}`,
  keys: { esc: 'esc', tab: 'tab', ctrl: 'ctrl', alt: 'alt', left: '←', down: '↓', up: '↑', right: '→', prefix: '^B', paste: 'paste' },
  keyNames: { left: 'left arrow', down: 'down arrow', up: 'up arrow', right: 'right arrow', prefix: 'prefix, ctrl+b' },
  keyBar: 'Keys', sheet: 'Show sessions',
  units: ['B', 'KB', 'MB', 'GB', 'TB'],
};
