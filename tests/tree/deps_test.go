package tree

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "tandem"

// A layer lists the module's packages that one package may import, as patterns, and the reason not
// to import more.
type layer struct {
	may []string
	why string
}

// basicView is the rule for a view without an entry in layers. Such a view needs no more.
var basicView = layer{
	[]string{"panes", "panes/kit/*", "panes/states", "engine/api", "engine/base/units", "keys", "keys/keymap"},
	"a view shows what the API offers, with the kit",
}

// layers is the architecture: the test rejects packages missing here.
var layers = map[string]layer{
	"": {[]string{"ui/cli/role"}, "main calls one function"},
	"ui/cli/role": {
		[]string{"persist/inotify", "engine", "engine/agent/access", "engine/api", "engine/api/client", "engine/remote/fleet", "engine/remote/hosts/transport", "engine/system/keeper", "engine/control/launch", "engine/agent/mcp", "engine/agent/policy", "engine/system/proctree", "engine/system/sandbox", "engine/base/scope", "engine/control/supervise", "keys", "keys/keymap", "persist/config", "persist/config/settings", "persist/datadir", "persist/store", "ui", "ui/attach", "ui/cli", "ui/cli/doctor", "ui/cli/factory", "ui/cli/settings", "engine/api/sockets"},
		"all roles are wired here; panes and the emulator are details of the dashboard and the engine",
	},
	"ui": {
		[]string{"engine/base/cellwidth", "panes", "panes/*", "panes/kit/graphics", "panes/sessions/list", "persist/config/settings", "ui/attach", "ui/conn", "ui/display", "panes/kit/dialog", "ui/screen", "engine/api", "engine/api/client", "keys", "keys/keymap", "themes", "engine/base/sleep", "engine/base/units", "panes/kit/list", "panes/kit/look", "panes/kit/text"},
		"the dashboard is a client: it uses the engine only through its API",
	},
	"ui/conn": {
		[]string{"panes", "panes/terminal", "engine/api", "engine/api/client", "engine/api/client/retry", "engine/api/qualify", "engine/api/userfiles", "engine/base/sleep"},
		"the connection uses the engine's API and passes its state to the dashboard unchanged",
	},
	"ui/display": {
		[]string{"engine/api", "engine/screen/passthrough", "engine/screen/styled", "engine/screen/vt/xcolor", "panes/kit/graphics"},
		"a terminal's replies are parsed independently of the code that queried it",
	},
	"ui/jobcontrol": {
		nil,
		"the dashboard and attach stop the program in the same way",
	},
	"ui/screen": {
		[]string{"engine/api", "engine/base/cellwidth", "engine/screen/styled", "panes/kit/graphics", "ui/display", "ui/jobcontrol", "keys", "engine/screen/vt/scan", "panes/kit/look", "panes/kit/text"},
		"painting and input handling do not depend on the content of panes or the meaning of keys",
	},
	"ui/pictures": {
		[]string{"engine/screen/passthrough", "engine/screen/styled", "engine/screen/vt", "panes/kit/graphics"},
		"pictures are converted the same way for attach and recordings",
	},
	"ui/attach": {
		[]string{"engine/api", "engine/api/client", "engine/screen/passthrough", "engine/screen/styled", "engine/screen/vt", "keys", "panes/kit/graphics", "ui/display", "ui/jobcontrol", "ui/pictures", "panes/kit/predict", "engine/base/sleep", "engine/api/direct", "engine/api/outbox"},
		"attaching needs a stream of raw bytes, the prefix key and, on a slow link, a screen for predictions",
	},
	"ui/cli": {
		[]string{"engine/api", "persist/diag", "ui/cli/cast", "ui/cli/codingagents", "ui/cli/engine", "ui/cli/factory", "ui/cli/files", "ui/cli/fleet", "ui/cli/history", "ui/cli/logs", "ui/cli/ls", "ui/cli/machines", "ui/cli/manual", "ui/cli/output", "ui/cli/processes", "ui/cli/project", "ui/cli/ps", "ui/cli/requests", "ui/cli/scrub", "ui/cli/search", "ui/cli/service", "ui/cli/sessions", "ui/cli/settings", "ui/cli/shell", "ui/cli/tmux", "ui/cli/uninstall", "ui/cli/up", "ui/cli/web"},
		"the root command and its flags; each command is in a package of its own",
	},
	"ui/cli/factory": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/base/cellwidth", "engine/base/units", "engine/remote/fleet", "engine/remote/hosts/transport", "keys", "persist/config/settings", "ui/cli/doctor", "ui/cli/output"},
		"what commands are built from knows the engine's API and the configuration, but no command",
	},
	"ui/cli/sessions": {
		[]string{"engine/api", "engine/api/client", "engine/screen/passthrough", "keys", "panes/kit/predict", "ui/attach", "ui/cli/codingagents", "ui/cli/factory", "ui/cli/output", "ui/cli/settings"},
		"a client of the API, like ui/cli/files; attaching draws on the terminal itself",
	},
	"ui/cli/processes": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "ui/cli/codingagents", "ui/cli/factory", "ui/cli/fleet", "ui/cli/output", "ui/cli/project"},
		"a client of the API, like ui/cli/files; sizes are read as in a project file",
	},
	"ui/cli/history": {
		[]string{"engine/api", "engine/base/sleep", "engine/base/units", "ui/cli/doctor", "ui/cli/factory", "ui/cli/output", "ui/pick"},
		"a client of the API, like ui/cli/files; picking shows the dashboard's list",
	},
	"ui/cli/scrub": {
		[]string{"engine/api", "engine/api/client/retry", "engine/base/sleep", "ui/cli/factory", "ui/cli/output"},
		"a client of the API, like ui/cli/search",
	},
	"ui/cli/search": {
		[]string{"engine/api", "engine/api/client/retry", "engine/base/units", "engine/screen/rendered", "ui/cli/factory", "ui/cli/output"},
		"a client of the API, like ui/cli/logs",
	},
	"ui/cli/requests": {
		[]string{"engine/api", "engine/api/client", "engine/base/cellwidth", "ui/cli/factory", "ui/cli/output"},
		"a client of the API, like ui/cli/files",
	},
	"ui/cli/up": {
		[]string{"engine/api", "engine/api/client/retry", "ui/cli/factory", "ui/cli/output", "ui/cli/project"},
		"a project file is read by ui/cli/project, and run through the API",
	},
	"ui/cli/engine": {
		[]string{"engine/api", "engine/api/client", "engine/base/sleep", "ui/cli/codingagents", "ui/cli/doctor", "ui/cli/factory", "ui/cli/machines", "ui/cli/output", "ui/cli/service", "ui/cli/settings"},
		"stopping and examining an engine must work when it is broken",
	},
	"ui/pick": {
		[]string{"engine/api", "engine/api/client", "panes/history", "themes", "ui/display", "engine/base/sleep", "panes/kit/field", "panes/kit/look", "panes/kit/text", "keys/keymap"},
		"picking shows the dashboard's history list in another terminal, without the rest of the dashboard",
	},
	"ui/cli/uninstall": {
		[]string{"engine/api", "engine/api/client", "engine/api/sockets", "persist/datadir", "ui/cli/codingagents", "ui/cli/doctor", "ui/cli/engine", "ui/cli/factory", "ui/cli/output", "ui/cli/service", "ui/cli/setup"},
		"it removes what other commands and the engine have written",
	},
	"ui/cli/codingagents": {
		[]string{"engine/api", "engine/api/client/retry", "engine/base/units", "persist/datadir", "persist/procstat", "ui/cli/factory", "ui/cli/output", "ui/cli/setup"},
		"these commands need the API and shared output code, not other commands",
	},
	"ui/cli/cast": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/screen/passthrough", "engine/screen/picture", "engine/base/sleep", "engine/screen/vt", "engine/screen/vt/scan", "panes/kit/graphics", "ui/cli/factory", "ui/cli/output", "ui/cli/sessions", "ui/display", "ui/pictures"},
		"recording and playing need the API and an emulator; a recorded command is attached to",
	},
	"ui/cli/doctor": {
		[]string{"engine/api", "engine/api/client", "engine/base/scope", "themes", "ui/cli/output", "persist/datadir", "persist/regular", "engine/api/sockets"},
		"problems are diagnosed from outside, because the engine itself may be broken",
	},
	"ui/cli/web": {
		[]string{"engine/api", "engine/api/client", "engine/page", "engine/page/background", "engine/page/devices", "engine/page/push", "engine/base/units", "panes/kit/qr", "ui/cli/factory", "ui/cli/output"},
		"these commands start the page and query it; serving is separate from the command line",
	},
	"ui/cli/files": {
		[]string{"engine/api", "engine/base/units", "ui/cli/factory", "ui/cli/output"},
		"a folder is listed by the engine of its machine; the factory opens the dashboard",
	},
	"ui/cli/logs": {
		[]string{"engine/api", "engine/api/client/retry", "engine/api/logmerge", "engine/base/cellwidth", "engine/screen/rendered", "engine/base/sleep", "ui/cli/factory", "ui/cli/output", "ui/cli/project"},
		"a client of the API, like ui/cli/files; logs are merged as in the dashboard",
	},
	"ui/cli/ls": {
		[]string{"engine/api", "ui/cli/factory", "ui/cli/output"},
		"a client of the API, like ui/cli/files",
	},
	"ui/cli/ps": {
		[]string{"engine/api", "engine/api/client/retry", "engine/base/sleep", "engine/base/units", "ui/cli/factory", "ui/cli/ls", "ui/cli/output"},
		"a client of the API, like ui/cli/files; the table is sorted as in ls",
	},
	"ui/cli/machines": {
		[]string{"engine/api", "engine/api/client", "engine/remote/hosts/bridge", "engine/remote/hosts/transport", "engine/base/sleep", "engine/base/units", "ui/cli/factory", "ui/cli/output"},
		"adding a machine talks to its bridge; everything else goes through the local engine",
	},
	"ui/cli/fleet": {
		[]string{"engine/api", "engine/remote/fleet", "engine/remote/fleet/hub", "engine/remote/fleet/hub/embedded", "engine/base/sleep", "engine/base/units", "persist/datadir", "ui/cli/factory", "ui/cli/machines", "ui/cli/output"},
		"running a hub and joining need no engine; only builds with the tag hub import embedded",
	},
	"ui/cli/settings": {
		[]string{"persist/trust", "ui/cli/doctor", "ui/cli/factory", "ui/cli/output", "persist/regular"},
		"showing and checking a configuration does not depend on the meaning of its keys",
	},
	"ui/cli/manual": {
		[]string{"ui/cli/factory", "ui/cli/output"},
		"help and manual pages are generated from the command tree alone",
	},
	"ui/cli/output": {
		[]string{"engine/api", "engine/base/cellwidth", "engine/base/units", "engine/screen/rendered"},
		"results are printed the same way for all commands",
	},
	"ui/cli/project": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/base/names", "engine/base/sleep", "engine/base/units", "persist/diag", "persist/trust", "ui/cli/output", "persist/regular"},
		"a project file becomes API requests, independently of the command line",
	},
	"ui/cli/service": {
		[]string{"engine/api", "engine/base/shell", "ui/cli/codingagents", "ui/cli/doctor", "ui/cli/factory", "ui/cli/output", "ui/cli/setup", "persist/regular"},
		"a unit names the program and the variables as agents' settings do; the doctor shows its state",
	},
	"ui/cli/setup": {
		[]string{"engine/api", "engine/base/shell", "persist/datadir", "persist/regular", "engine/api/sockets"},
		"editing other programs' settings is separate from prompts and output; of Tandem it needs the socket's path and the quoting of shell words",
	},
	"ui/cli/tmux": {
		[]string{"engine/api/layout", "engine/api", "engine/api/client", "engine/base/names", "engine/base/sleep", "persist/datadir", "persist/procstat", "ui/cli/factory", "ui/cli/output", "ui/cli/tmux/cells", "ui/cli/tmux/format", "ui/cli/tmux/server"},
		"tmux's command line is a client of the API: the engine runs the programs, the dashboard draws them",
	},
	"ui/cli/tmux/cells": {
		nil,
		"dividing a window does not depend on the content of its panes",
	},
	"ui/cli/tmux/format": {
		nil,
		"formats get their variables from a Scope and know no sessions",
	},
	"ui/cli/tmux/server": {
		[]string{"ui/cli/tmux/cells", "persist/regular"},
		"numbers, names and options are kept without the engine",
	},
	"ui/cli/shell": {
		[]string{"ui/cli/output"},
		"the prompt runs any command and imports none",
	},
	"panes": {
		[]string{"engine/api/layout", "engine/api", "keys", "keys/keymap", "persist/config/settings", "panes/kit/dialog", "engine/base/units", "engine/api/outbox", "panes/kit/list", "panes/kit/look", "panes/kit/text"},
		"the contract between dashboard and panes does not depend on any one pane",
	},
	"persist/config/settings": {
		[]string{"keys/keymap", "persist/diag", "themes"},
		"settings are values that a client can hold without reading the file",
	},
	"panes/kit/text": {
		[]string{"engine/api", "engine/base/cellwidth", "engine/screen/styled"},
		"measuring and cutting text does not depend on colours",
	},
	"panes/kit/look": {
		[]string{"panes/kit/text", "themes", "keys/keymap"},
		"inks and glyphs do not depend on what they draw",
	},
	"panes/kit/list": {
		[]string{"engine/base/cellwidth", "keys", "panes/kit/look", "panes/kit/text"},
		"a list does not depend on what it lists",
	},
	"panes/kit/field": {
		[]string{"engine/base/cellwidth", "panes/kit/look", "panes/kit/text"},
		"editing text does not depend on its use",
	},
	"panes/kit/dialog": {
		[]string{"engine/api", "engine/base/cellwidth", "keys", "keys/keymap", "panes/kit/field", "panes/kit/list", "panes/kit/look", "panes/kit/text"},
		"a dialog asks the user and passes the answer to a function given by its caller",
	},
	"panes/kit/form": {
		[]string{"keys/keymap", "panes/kit/dialog", "panes/kit/field", "panes/kit/look", "panes/kit/text"},
		"a form is a dialog of fields and does not know their meaning",
	},
	"panes/kit/predict": {
		[]string{"engine/base/cellwidth", "engine/screen/styled", "keys"},
		"predictions need only a screen and a key",
	},
	"panes/kit/graphics": {[]string{"engine/screen/styled"}, "encoding a picture does not depend on its place on the screen"},
	"panes/kit/qr":       {nil, "drawing a QR code does not depend on its text"},
	"panes/states": {
		[]string{"engine/api", "engine/base/units", "panes/kit/look", "panes/kit/text"},
		"all panes describe the state of a process alike",
	},
	"panes/logtext": {
		[]string{"engine/api", "engine/base/cellwidth", "engine/screen/rendered", "engine/screen/styled", "panes/kit/look", "panes/kit/text"},
		"drawing a line of a log does not depend on the pane that shows it",
	},
	"panes/processes": {
		[]string{"panes", "panes/kit/dialog", "engine/api", "keys", "keys/keymap", "engine/base/sleep", "engine/base/units", "panes/kit/list", "panes/kit/look", "panes/kit/text", "panes/processes/logview", "panes/states"},
		"a pane draws the state reported by the API; it decides no policy and imports no other pane",
	},
	"panes/processes/logview": {
		[]string{"engine/api", "engine/api/logmerge", "engine/base/units", "engine/screen/vt/scan", "panes/kit/look", "panes/kit/text", "panes/logtext"},
		"reading and drawing a log does not depend on the keys and dialogs around it",
	},
	"panes/history": {
		[]string{"panes", "panes/kit/dialog", "engine/base/cellwidth", "engine/api", "keys", "keys/keymap", "engine/base/sleep", "engine/base/units", "panes/kit/field", "panes/kit/list", "panes/kit/look", "panes/kit/text", "panes/logtext", "panes/states"},
		"a pane like panes/processes",
	},
	"panes/outputs": {
		[]string{"panes", "panes/kit/dialog", "engine/api", "keys", "keys/keymap", "engine/base/sleep", "engine/base/units", "panes/kit/field", "panes/kit/list", "panes/kit/look", "panes/kit/text", "panes/logtext", "panes/processes/logview", "panes/states"},
		"a pane like panes/processes, with the log of a process as there",
	},
	"panes/files": {
		[]string{"panes", "panes/files/entries", "panes/files/transfers", "panes/kit/graphics", "panes/preview", "panes/kit/dialog", "engine/api", "keys", "keys/keymap", "persist/config/settings", "persist/datadir", "engine/base/sleep", "engine/base/units", "engine/base/shell", "panes/kit/field", "panes/kit/list", "panes/kit/look", "panes/kit/text"},
		"a pane like panes/processes, plus the preview shown beside the folder",
	},
	"panes/files/entries": {
		[]string{"engine/api", "engine/base/units", "panes/kit/list", "panes/kit/look", "panes/kit/text"},
		"sorting and drawing the entries of a folder does not depend on how they are read",
	},
	"panes/files/transfers": {
		[]string{"panes", "panes/kit/dialog", "engine/api", "engine/base/units", "keys/keymap", "panes/kit/text"},
		"following and undoing transfers does not depend on the view of a folder",
	},
	"panes/preview": {
		[]string{"panes/kit/graphics", "engine/base/cellwidth", "engine/api", "engine/screen/vt/scan", "engine/base/units", "panes/kit/look", "panes/kit/text"},
		"a pane like panes/processes",
	},
	"panes/inbox": {
		[]string{"panes", "panes/kit/dialog", "engine/api", "keys", "keys/keymap", "panes/kit/field", "panes/kit/list", "panes/kit/look", "panes/kit/text", "panes/states"},
		"a dialog over the state of sessions and agents",
	},
	"panes/sessions": {
		[]string{"engine/api/layout", "panes", "panes/sessions/layout", "panes/sessions/list", "panes/terminal", "panes/kit/dialog", "panes/kit/graphics", "panes/kit/list", "panes/kit/look", "panes/kit/predict", "panes/kit/text", "panes/states", "engine/api", "engine/base/invariants", "keys", "keys/keymap"},
		"a pane like panes/processes, whose parts are the list, the layout and the terminals",
	},
	"panes/sessions/layout": {
		[]string{"engine/api", "engine/base/invariants", "panes/terminal", "panes/kit/look", "panes/kit/text"},
		"the arrangement of terminals depends neither on keys nor on its storage",
	},
	"panes/sessions/list": {
		[]string{"panes", "panes/inbox", "panes/kit/dialog", "engine/api", "keys", "keys/keymap", "engine/base/units", "panes/kit/list", "panes/kit/look", "panes/kit/text", "panes/states"},
		"a pane like panes/processes, plus the inbox it opens",
	},
	"panes/web": {
		[]string{"engine/page/background", "keys/keymap", "panes", "panes/kit/dialog", "panes/kit/qr", "panes/kit/look", "panes/kit/text"},
		"this dialog shows a link, made as by `tandem web`; another process serves the page",
	},
	"panes/startform": {
		[]string{"panes", "panes/kit/dialog", "panes/kit/field", "panes/kit/form", "panes/kit/text", "panes/states", "engine/api"},
		"a dialog that starts processes through the API",
	},
	"panes/machines": {
		[]string{"panes", "panes/kit/dialog", "engine/api", "engine/base/units", "panes/kit/list", "panes/kit/look", "panes/kit/text"},
		"a pane like panes/processes",
	},
	"panes/terminal": {
		[]string{"panes", "panes/kit/graphics", "panes/kit/dialog", "panes/kit/predict", "engine/base/cellwidth", "engine/api", "keys", "keys/keymap", "engine/screen/styled", "engine/base/units", "engine/api/direct", "engine/api/outbox", "panes/kit/list", "panes/kit/look", "panes/kit/text", "panes/states"},
		"a pane like panes/processes, with predictions as in ui/attach",
	},
	"engine": {
		[]string{"engine/agent/access", "engine/api", "engine/api/server", "engine/agent/approval", "engine/record/audit", "engine/remote/all", "engine/remote/fleet", "engine/record/outputs", "engine/record/history", "engine/record/kept", "engine/record/scrub", "engine/remote/hosts", "engine/remote/hosts/transport", "engine/system/keeper", "engine/control/host", "engine/control/launch", "engine/system/proctree", "engine/base/secrets", "engine/service", "engine/service/startrules", "engine/control/supervise", "engine/control/usage", "engine/base/shell", "engine/session/terminal", "engine/workspace/worktrees", "persist/config/settings", "persist/store", "engine/base/panics", "persist/datadir", "persist/inotify", "engine/api/sockets"},
		"the engine has no user interface",
	},
	"engine/control/host": {
		[]string{"engine/agent/access", "engine/agent/coding", "engine/api", "engine/system/keeper", "engine/control/launch", "engine/record/history", "engine/record/kept", "engine/record/logs", "engine/record/outputs", "engine/base/names", "engine/control/observe", "engine/system/proctree", "engine/session/prompt", "engine/system/sandbox", "engine/base/secrets", "engine/base/shell", "engine/control/supervise", "engine/session/terminal", "engine/screen/vt", "engine/screen/vt10x", "persist/config/settings", "persist/histdb", "persist/inputnotes", "persist/memfile", "persist/ptylog", "persist/store", "engine/base/panics", "persist/datadir", "engine/base/sleep"},
		"what the control loop asks for does not depend on the services that clients call",
	},
	"engine/session/terminal/terminaltest": {
		[]string{"engine/screen/vt", "engine/session/prompt", "engine/session/terminal", "persist/inputnotes", "persist/ptylog"},
		"tests of other packages share this host",
	},
	"engine/control/launch": {
		[]string{"engine/api", "engine/system/keeper", "engine/base/names", "engine/system/proctree", "engine/session/prompt", "engine/system/sandbox", "engine/base/shell", "engine/control/supervise", "engine/control/tampering", "persist/store", "engine/base/sleep"},
		"starting a child does not depend on the session around it",
	},
	"engine/control/observe": {
		[]string{"engine/system/keeper", "engine/record/logs", "engine/control/readiness", "engine/system/sandbox", "engine/base/shell", "engine/control/supervise", "persist/store", "engine/base/sleep"},
		"watching a child does not depend on the way it was started",
	},
	"engine/agent/access": {
		[]string{"engine/api", "engine/system/proctree", "engine/system/sandbox", "engine/session/terminal", "persist/store", "persist/trust", "persist/regular"},
		"permissions are checked before a call is served",
	},
	"engine/control/usage": {
		[]string{"engine/api", "engine/base/names", "engine/base/sleep", "engine/control/supervise", "engine/system/proctree", "engine/system/pty", "persist/store"},
		"measuring changes nothing; the handlers and the sampling loop share one meter",
	},
	"engine/control/readiness": {
		[]string{"engine/agent/access", "engine/api", "engine/base/names", "engine/system/sandbox", "persist/store", "engine/base/sleep"},
		"probes do not depend on the caller waiting for readiness",
	},
	"engine/remote/hosts": {
		[]string{"engine/api", "engine/api/client", "engine/api/wire", "engine/remote/hosts/transport", "engine/base/panics"},
		"a link carries bytes to another engine without interpreting them; this engine's own calls there are a client's",
	},
	"engine/remote/all": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/api/qualify", "engine/base/panics", "engine/base/sleep", "engine/remote/hosts"},
		"combining machines needs connections to them, and does not know how they are made",
	},
	"engine/api/userfiles": {
		[]string{"engine/api"},
		"files are reached through any engine: the dashboard's and those of a transfer between machines",
	},
	"engine/remote/copy": {
		[]string{"engine/api", "engine/api/userfiles", "engine/workspace/files", "engine/base/panics", "engine/base/sleep"},
		"a transfer between machines calls their engines and does not know how they are reached",
	},
	"engine/control/events": {[]string{"engine/api"}, "events to those who watch them, for the loop that owns the subscribers"},
	"engine/remote/fleet": {
		[]string{"engine/api", "engine/remote/hosts/transport", "engine/base/panics", "engine/base/sleep", "persist/regular"},
		"a hub's connection carries bytes to an engine; the caller supplies the way to reach it",
	},
	"engine/remote/fleet/hub": {
		[]string{"engine/api", "engine/remote/fleet", "engine/base/panics", "engine/base/sleep", "persist/regular"},
		"membership of a fleet does not depend on the server that carries its messages",
	},
	"engine/remote/fleet/hub/embedded": {
		[]string{"engine/remote/fleet/hub"},
		"the server delivers messages; the hub decides on access",
	},
	"engine/remote/hosts/bridge": {
		[]string{"engine/api", "engine/remote/hosts/transport"},
		"the remote end connects streams to an engine; the caller supplies the way to reach it",
	},
	"engine/remote/hosts/transport": {
		[]string{"engine/api", "engine/base/unixsocket", "engine/api/sockets"},
		"reaching a machine is the same for the engine's link and for a user adding it",
	},
	"engine/service/startrules": {
		[]string{"engine/api", "engine/base/names", "engine/control/supervise", "engine/session/terminal", "persist/store"},
		"a request to start a program is checked before anything is done for it",
	},
	"engine/service": {
		[]string{"engine/service/startrules", "engine/api/layout", "engine/api/logmerge", "engine/api/qualify", "persist/inotify", "engine/agent/access", "engine/agent/coding", "engine/api", "engine/api/server", "engine/agent/approval", "engine/record/audit", "engine/session/conditions", "engine/remote/copy", "engine/workspace/files", "engine/remote/fleet", "engine/record/outputs", "engine/record/history", "engine/record/kept", "engine/record/scrub", "engine/remote/all", "engine/remote/hosts", "engine/remote/hosts/transport", "engine/system/keeper", "engine/record/logs", "engine/base/names", "engine/system/proctree", "engine/session/prompt", "engine/system/pty", "engine/control/readiness", "engine/screen/rendered", "engine/record/search", "engine/base/secrets", "engine/control/supervise", "engine/control/usage", "engine/session/terminal", "engine/workspace/worktrees", "keys", "persist/histdb", "persist/store", "engine/base/panics", "engine/base/shell", "engine/base/sleep"},
		"a handler translates a call; the owners of sessions, files and history carry it out",
	},
	"engine/workspace/files/archive": {
		nil,
		"packing and unpacking do not depend on the folder",
	},
	"engine/agent/mcp/toolkit": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/screen/vt/scan", "engine/base/sleep", "engine/base/shell", "engine/screen/styled"},
		"the building blocks of tools do not depend on any tool",
	},
	"engine/agent/mcp/mcptest": {[]string{"engine/api", "engine/agent/mcp/toolkit"}, "a fake engine for the tests of any profile"},
	"engine/agent/mcp/profiles/native": {
		[]string{"engine/api", "engine/agent/mcp/profiles/plugin", "engine/agent/mcp/toolkit", "engine/base/units", "keys", "engine/screen/vt/scan"},
		"it stops processes with the code of the plugin profile, and shares nothing else with other profiles",
	},
	"engine/agent/mcp/profiles/core":     {[]string{"engine/api", "engine/agent/mcp/toolkit"}, "profiles do not import each other"},
	"engine/agent/mcp/profiles/android":  {[]string{"engine/api", "engine/agent/mcp/toolkit", "engine/base/sleep"}, "profiles do not import each other"},
	"engine/agent/mcp/profiles/osenv":    {[]string{"engine/api", "engine/agent/mcp/toolkit", "engine/base/shell"}, "profiles do not import each other"},
	"engine/agent/mcp/profiles/terminal": {[]string{"engine/api", "engine/agent/mcp/toolkit", "engine/base/shell"}, "profiles do not import each other"},
	"engine/agent/mcp/profiles/plugin":   {[]string{"engine/api", "engine/agent/mcp/toolkit", "engine/base/shell", "engine/base/names", "engine/screen/vt/scan"}, "profiles do not import each other"},
	"engine/base/httplimit":              {nil, "limits on HTTP clients do not depend on their requests"},
	"engine/agent/mcp": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/agent/mcp/toolkit", "engine/agent/mcp/profiles/android", "engine/agent/mcp/profiles/core", "engine/agent/mcp/profiles/native", "engine/agent/mcp/profiles/osenv", "engine/agent/mcp/profiles/plugin", "engine/agent/mcp/profiles/terminal", "persist/datadir", "engine/base/httplimit", "engine/base/sleep", "engine/base/shell", "persist/regular"},
		"the agents' server is a client of the API, like the dashboard",
	},
	"engine/page": {
		[]string{"engine/api", "engine/api/client", "engine/page/devices", "engine/page/push", "persist/datadir", "engine/base/httplimit", "engine/system/proctree", "engine/base/cellwidth", "engine/base/sleep", "persist/regular"},
		"the page is a client of the API, like the dashboard",
	},
	"engine/page/background": {
		[]string{"engine/api", "engine/page", "engine/page/devices", "engine/base/sleep"},
		"`tandem web` and the dashboard start the page alike, through any client of the engine",
	},
	"engine/page/push":    {[]string{"engine/api", "engine/page/devices", "persist/datadir", "persist/regular"}, "notifications need events and paired devices, not the page"},
	"engine/page/devices": {[]string{"persist/datadir", "persist/regular"}, "access to the page is stored in a file, independently of the page's content"},
	"engine/api/client": {
		[]string{"engine/api", "engine/api/outbox", "engine/api/wire", "engine/base/unixsocket", "engine/base/scope", "persist/datadir", "persist/procstat", "persist/regular", "engine/api/sockets"},
		"a client knows the operations and the connection, not the server's code",
	},
	"engine/api/layout": {
		[]string{"engine/api"},
		"the engine and the dashboards change their layouts by the same rules",
	},
	"engine/api/logmerge": {
		[]string{"engine/api", "engine/base/panics", "engine/base/sleep"},
		"logs are merged through process.log, in the engine or for one that cannot",
	},
	"engine/api/client/retry": {
		[]string{"engine/api", "engine/api/client", "engine/base/sleep"},
		"retrying calls across engine restarts does not depend on the caller",
	},
	"engine/api/qualify": {
		[]string{"engine/api"},
		"names of machines are added the same way to calls, lists and attachments",
	},
	"engine/api/outbox": {
		[]string{"engine/api", "engine/api/wire"},
		"input is queued in order, with or without a connection",
	},
	"engine/api/direct": {
		[]string{"engine/api"},
		"typed input takes the same path from attach and from a pane",
	},
	"engine/api/server": {
		[]string{"engine/api", "engine/api/qualify", "engine/api/wire", "engine/base/secrets", "engine/base/panics", "engine/base/unixsocket", "engine/api/sockets"},
		"the server decodes, authorises and records requests; handlers implement the operations",
	},
	"engine/api/wire": {
		[]string{"engine/api", "keys", "engine/screen/styled", "engine/api/sockets"},
		"code shared by client and server must import neither",
	},
	"engine/api/sockets": {
		[]string{"engine/base/unixsocket", "persist/datadir"},
		"agents' programs and a machine's setup need the paths of the sockets without the operations",
	},
	"engine/api": {
		[]string{"keys", "engine/screen/styled", "engine/api/sockets"},
		"the protocol shared by client and server must import neither",
	},
	"engine/screen/picture": {
		[]string{"engine/base/cellwidth", "engine/screen/vt", "engine/screen/vt/graphics", "engine/screen/styled"},
		"drawing a screen as a picture needs only the emulator's state",
	},
	"engine/screen/vt10x": {
		[]string{"engine/screen/vt/grid"},
		"an implementation of Grid needs only its interface",
	},
	"engine/system/keeper":            {[]string{"engine/base/unixsocket", "persist/procstat", "persist/regular"}, "the keeper cannot be upgraded while it runs, so no other package may change it"},
	"engine/screen/vt":                {[]string{"engine/base/cellwidth", "engine/base/invariants", "engine/screen/vt/charset", "engine/screen/vt/graphics", "engine/screen/vt/grid", "engine/screen/vt/history", "engine/screen/vt/notice", "engine/screen/vt/palette", "engine/screen/vt/scan", "engine/screen/vt/simple", "engine/screen/vt/terminfo", "keys", "engine/screen/styled"}, "an emulator turns bytes into a screen; its modes decide the encoding of keys"},
	"engine/screen/vt/charset":        {nil, "a character set is a table"},
	"engine/screen/vt/graphics":       {[]string{"engine/base/invariants", "engine/screen/styled", "engine/base/sleep"}, "decoding pictures does not depend on showing them"},
	"engine/screen/vt/grid":           {[]string{"engine/base/invariants"}, "storing cells does not depend on their content"},
	"engine/screen/vt/history":        {[]string{"engine/base/invariants", "engine/screen/styled", "engine/screen/vt/graphics", "engine/screen/vt/grid"}, "storing lines does not depend on the emulator"},
	"engine/screen/vt/notice":         {[]string{"engine/screen/vt/scan"}, "assembling a notification's text is separate from delivering it"},
	"engine/screen/vt/palette":        {[]string{"engine/screen/styled", "engine/screen/vt/xcolor"}, "colours are queried and changed independently of drawing"},
	"engine/screen/vt/simple":         {[]string{"engine/base/cellwidth", "engine/screen/vt/grid", "engine/screen/vt/history", "engine/screen/vt/scan"}, "measuring text is separate from printing it"},
	"engine/screen/vt/scan":           {nil, "scanning bytes is separate from drawing them"},
	"engine/screen/vt/terminfo":       {nil, "a capability is a name with a string"},
	"engine/screen/vt/xcolor":         {nil, "parsing a colour does not depend on its use"},
	"engine/screen/styled":            {nil, "the emulator, the protocol and the dashboard share one definition of styled text"},
	"engine/base/cellwidth":           {nil, "the emulator and the dashboard must measure text alike"},
	"engine/workspace/files":          {[]string{"engine/workspace/files/archive", "engine/workspace/git", "engine/base/panics", "engine/record/search", "engine/screen/vt/scan", "engine/base/sleep", "persist/inotify"}, "confined file operations need no other part of the engine"},
	"engine/session/conditions":       {[]string{"engine/base/panics"}, "callers supply the conditions and evaluate their sources"},
	"engine/base/invariants":          {nil, "each package defines its own invariants"},
	"engine/base/unixsocket":          {nil, "the sockets of the engine and of the keeper do not depend on what they carry"},
	"engine/base/sleep":               {nil, "an interruptible pause needs no other package"},
	"engine/base/throttle":            {nil, "limiting calls needs no other package"},
	"engine/control/tampering":        {[]string{"engine/base/sleep"}, "files are compared without knowing the programs that may have changed them"},
	"engine/base/units":               {nil, "sizes and durations are formatted the same everywhere"},
	"engine/base/panics":              {nil, "panics are passed between goroutines of any package"},
	"engine/agent/policy":             {[]string{"persist/diag"}, "rules decide on calls without access to running processes"},
	"engine/base/secrets":             {nil, "recognising a secret does not depend on its storage"},
	"engine/base/shell":               {nil, "bash's reading of a command line depends only on the line"},
	"engine/system/pty":               {[]string{"engine/system/proctree", "persist/procstat"}, "the state of a PTY and its foreground program comes from the kernel"},
	"engine/session/prompt":           {[]string{"engine/api", "engine/session/conditions", "engine/record/logs", "engine/base/names", "engine/system/proctree", "engine/system/pty", "engine/screen/vt", "keys", "engine/screen/styled", "engine/base/panics", "engine/base/sleep", "persist/procstat", "persist/regular"}, "following a shell needs a terminal, not the session that owns it"},
	"engine/system/sandbox":           {[]string{"engine/system/keeper", "engine/base/panics", "engine/base/sleep", "persist/regular"}, "the launch stage links few packages; the keeper applies the confinement, in one place"},
	"engine/base/names":               {[]string{"engine/base/cellwidth", "engine/base/secrets", "engine/base/shell"}, "names and patterns are checked the same way for sessions, processes and projects"},
	"engine/base/scope":               {nil, "a client asks systemd for a scope before there is an engine"},
	"engine/system/proctree":          {[]string{"engine/api", "engine/base/names", "persist/datadir", "persist/procstat", "persist/store", "engine/base/panics", "engine/base/sleep"}, "the process table comes from the kernel"},
	"engine/record/search":            {nil, "searching lines does not depend on their source"},
	"engine/screen/rendered":          {[]string{"engine/base/cellwidth", "engine/screen/styled"}, "rendering a line of output needs only the widths of characters and the syntax of styles"},
	"engine/record/logs":              {[]string{"engine/api", "engine/base/names", "engine/screen/rendered", "engine/record/search", "persist/linelog", "persist/sparse", "persist/ptylog", "engine/screen/vt/scan", "engine/base/panics"}, "logs are growing files, independent of the programs that write them"},
	"engine/agent/coding":             {[]string{"engine/api", "engine/system/proctree", "engine/session/prompt", "engine/system/pty", "engine/session/terminal", "keys", "persist/diag", "persist/store", "engine/workspace/files", "engine/base/panics"}, "an agent's state is detected from its terminal; notifying users is done elsewhere"},
	"engine/control/supervise":        {[]string{"engine/agent/coding", "engine/api", "engine/control/events", "engine/record/history", "engine/base/invariants", "engine/system/keeper", "engine/record/logs", "engine/base/mailbox", "engine/base/names", "engine/system/proctree", "engine/session/prompt", "engine/base/secrets", "engine/session/terminal", "persist/histdb", "persist/store", "engine/base/panics", "engine/base/shell"}, "the loop decides on transitions; an executor given by its caller performs the effects"},
	"engine/workspace/git":            {[]string{"engine/base/panics"}, "running git does not depend on the purpose"},
	"engine/workspace/worktrees":      {[]string{"engine/workspace/git"}, "managing worktrees needs only git"},
	"engine/base/mailbox":             {nil, "a queue does not depend on its elements"},
	"engine/base/priority":            {[]string{"engine/base/panics"}, "any search may run at a low priority"},
	"engine/record/outputs":           {[]string{"engine/api", "engine/base/names", "engine/base/panics", "engine/base/priority", "engine/record/logs"}, "searching many logs depends neither on the programs that write them nor on the control loop"},
	"engine/record/scrub":             {[]string{"engine/api", "engine/record/logs", "engine/screen/rendered", "engine/screen/vt/scan", "persist/datadir", "persist/linelog", "persist/regular", "persist/sparse", "persist/sqlitefile", "persist/store"}, "it works on the files alone, while no engine serves"},
	"engine/record/kept":              {[]string{"engine/api", "engine/base/panics", "engine/record/logs", "engine/record/outputs", "persist/datadir", "persist/linelog", "persist/sparse", "persist/sqlitefile", "persist/store"}, "keeping output does not depend on the control loop that trims records"},
	"engine/record/history":           {[]string{"engine/api", "engine/base/mailbox", "engine/base/names", "engine/base/panics", "engine/base/secrets", "persist/histdb"}, "storing commands does not depend on the way they were run"},
	"engine/screen/passthrough":       {nil, "the engine and its clients filter bytes by the same rules"},
	"engine/session/terminal":         {[]string{"engine/api", "engine/base/invariants", "engine/record/logs", "engine/base/names", "engine/screen/passthrough", "engine/screen/picture", "engine/session/prompt", "engine/system/pty", "engine/session/terminal/replies", "engine/screen/vt", "engine/screen/vt/graphics", "engine/screen/vt/scan", "keys", "persist/inputnotes", "persist/store", "engine/screen/styled", "engine/base/panics", "engine/base/sleep", "engine/base/throttle"}, "a session knows its own terminal and no other process"},
	"engine/session/terminal/replies": {nil, "the shell and the terminal are given to it"},
	"engine/record/audit":             {[]string{"engine/api", "engine/base/secrets", "engine/screen/vt/scan", "persist/store"}, "what the log of calls contains does not depend on who serves them"},
	"engine/agent/approval":           {[]string{"engine/api", "engine/base/names", "engine/agent/policy", "persist/store", "persist/trust", "engine/base/cellwidth", "engine/base/shell", "persist/regular"}, "deciding on an agent's call is separate from running it"},
	"persist/store":                   {[]string{"persist/datadir", "persist/procstat", "persist/regular"}, "the format on disk does not depend on its readers"},
	"persist/datadir":                 {nil, "all users of a file share its name"},
	"persist/sparse":                  {nil, "file system features do not depend on the content of files"},
	"persist/inputnotes":              {[]string{"persist/sparse"}, "notes of input do not depend on the terminal"},
	"persist/memfile":                 {nil, "a file in memory does not depend on its content"},
	"persist/ptylog":                  {[]string{"persist/sparse", "persist/store"}, "writing a log does not depend on the terminal"},
	"persist/linelog":                 {[]string{"persist/sparse", "persist/store"}, "reading lines does not depend on the log's writer"},
	"persist/trust":                   {nil, "checking the owner and mode of a file does not depend on its purpose"},
	"persist/procstat":                {nil, "the kernel's view of a process does not depend on the reader"},
	"persist/inotify":                 {nil, "watching files does not depend on their content"},
	"persist/regular":                 {nil, "reading a regular file does not depend on its purpose"},
	"persist/diag":                    {nil, "mistakes are explained the same way in all text files"},
	"persist/config":                  {[]string{"persist/inotify", "persist/config/settings", "persist/diag", "persist/datadir", "persist/trust", "persist/regular"}, "reading the configuration does not depend on the parts it configures"},
	"persist/sqlitefile":              {[]string{"persist/store"}, "opening a database does not depend on its tables"},
	"persist/histdb":                  {[]string{"persist/store", "persist/datadir", "persist/sqlitefile"}, "storing rows does not depend on the searches over them"},
	"persist/logtest":                 {[]string{"persist/sparse"}, "tests of several packages share these helpers"},
	"panes/enginetest":                {[]string{"panes", "engine/api", "engine/api/outbox", "keys"}, "the conformance suite checks any engine through the API types"},
	"panes/panestest":                 {[]string{"engine/api/layout", "engine/api/logmerge", "panes", "persist/config/settings", "panes/kit/dialog", "engine/api", "keys", "keys/keymap", "panes/kit/look", "panes/kit/text"}, "the fakes of dashboard and engine implement the services used by panes"},
	"keys":                            {nil, "decoding keys is separate from delivering them"},
	"keys/keymap":                     {[]string{"keys"}, "bindings are data of the dashboard; the engine only encodes keys"},
	"tests/harness":                   {[]string{"engine/api", "engine/screen/styled", "engine/screen/vt", "engine/screen/vt10x", "keys", "tests/places", "tests/wait", "ui/cli/role"}, "tests run the whole program and observe it from outside"},
	"tests/leaks":                     {nil, "any package's tests can check for leaked goroutines"},
	"tests/needs":                     {nil, "any package's tests can be skipped"},
	"tests/notify":                    {nil, "any package's tests can stop system calls"},
	"tests/places":                    {nil, "any package's tests can limit the processes they start"},
	"tests/report":                    {[]string{"engine/system/proctree"}, "running go test and reading its output does not depend on the tests"},
	"tests/seed":                      {[]string{"engine/base/invariants"}, "any package's tests can choose at random"},
	"tests/wait":                      {nil, "any package's tests can wait"},
	"themes":                          {nil, "turning a palette into styles needs no other package"},
}

func TestPackagesImportOnlyWhatTheArchitectureAllows(t *testing.T) {
	for file := range goFiles(t) {
		pkg := filepath.ToSlash(filepath.Dir(file))
		if pkg == "." {
			pkg = ""
		}
		for _, imported := range imports(t, file) {
			if problem := checkImport(pkg, imported); problem != "" {
				t.Errorf("%s: %s", file, problem)
			}
		}
	}
}

// floors are the folders of engine, from the bottom up. A package imports nothing from a floor
// above, and nothing from another folder on its own floor.
var floors = [][]string{{"base"}, {"screen"}, {"api"}, {"system", "record"}, {"session", "workspace", "page"}, {"agent", "remote"}, {"control"}, {"service"}}

// floorOf returns the floor of a package and the folder there; ok is false for one that is not in a
// folder of engine.
func floorOf(pkg string) (floor int, folder string, ok bool) {
	inside, ok := strings.CutPrefix(pkg, "engine/")
	folder, _, _ = strings.Cut(inside, "/")
	floor = slices.IndexFunc(floors, func(f []string) bool { return slices.Contains(f, folder) })
	return floor, folder, ok
}

func TestEngineFoldersImportOnlyLowerLayers(t *testing.T) {
	for file := range goFiles(t) {
		floor, folder, inside := floorOf(path.Dir(filepath.ToSlash(file)))
		if inside && floor < 0 {
			t.Errorf("%s: engine/%s has no floor", file, folder)
		}
		for _, imported := range imports(t, file) {
			at, other, ours := floorOf(strings.TrimPrefix(imported, module+"/"))
			if inside && ours && at >= floor && other != folder {
				t.Errorf("%s: engine/%s may not import %s, which is not below it", file, folder, imported)
			}
		}
	}
}

// checkImport returns the problem of a package with an import, or "".
func checkImport(pkg, imported string) string {
	rule, known := layers[pkg]
	if !known && path.Dir(pkg) == "panes" {
		rule, known = basicView, true
	}
	name, ours := strings.CutPrefix(imported, module+"/")
	switch {
	case !known:
		return fmt.Sprintf("package %q is missing from layers; add it with a reason", pkg)
	case ours && !slices.ContainsFunc(rule.may, func(pattern string) bool { return matches(pattern, name) }):
		return fmt.Sprintf("%q may not import %s: %s; take what it needs as a function or a small interface of its own", pkg, name, rule.why)
	case pkg == "engine/system/keeper" && slices.ContainsFunc(heavyPackages, func(heavy string) bool { return strings.HasPrefix(imported, heavy) }):
		return fmt.Sprintf("%q may not import %s: %s; use the standard library without net/http, or golang.org/x/sys", pkg, imported, rule.why)
	}
	return ""
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// heavyPackages are prefixes of packages too large for the keeper.
var heavyPackages = []string{"net/http", "charm.land/", "github.com/spf13/", "github.com/coder/"}

func TestForbiddenImportsAreFound(t *testing.T) {
	for _, bad := range []struct{ pkg, imported, want string }{
		{"", "tandem/ui", "main calls one function; take what it needs as a function"},
		{"ui", "tandem/engine", "only through its API; take what it needs as a function"},
		{"panes/history", "tandem/panes/processes", "a pane like panes/processes; take what it needs as a function"},
		{"engine/workspace/files", "tandem/engine/api/client", "take what it needs as a function"},
		{"engine/system/keeper", "tandem/persist/store", "take what it needs as a function"},
		{"engine/system/keeper", "net/http", "use the standard library without net/http"},
		{"engine/system/keeper", "github.com/spf13/cobra", "use the standard library without net/http"},
		{"panes/clock", "tandem/engine/page", "a view shows what the API offers"},
		{"panes/clock", "tandem/panes/history", "a view shows what the API offers"},
		{"ui", "tandem/panes/kit/qr", "take what it needs as a function"},
		{"util", "fmt", "missing from layers; add it with a reason"},
	} {
		if got := checkImport(bad.pkg, bad.imported); !strings.Contains(got, bad.want) {
			t.Errorf("%q with %s: %q, want %q", bad.pkg, bad.imported, got, bad.want)
		}
	}
	for _, good := range [][2]string{
		{"", "tandem/ui/cli/role"},
		{"ui", "tandem/panes"},
		{"ui", "tandem/panes/clock"},
		{"panes/clock", "tandem/panes/kit/text"},
		{"ui/conn", "net/http"},
		{"engine/system/keeper", "golang.org/x/sys/unix"},
		{"themes", "tandemonium/x"},
	} {
		if got := checkImport(good[0], good[1]); got != "" {
			t.Errorf("%q with %s: %q", good[0], good[1], got)
		}
	}
}

// kitImports are the packages that panes/kit may import besides its own.
var kitImports = []string{"keys", "keys/keymap", "themes", "engine/api", "engine/base/cellwidth", "engine/screen/styled"}

func TestKitImportsNeitherPanesNorTheEngine(t *testing.T) {
	for pkg, rule := range layers {
		if !strings.HasPrefix(pkg, "panes/kit/") {
			continue
		}
		for _, name := range rule.may {
			if !strings.HasPrefix(name, "panes/kit/") && !slices.Contains(kitImports, name) {
				t.Errorf("%s may import %s; let the panes pass what it needs", pkg, name)
			}
		}
	}
}

func TestNothingBelowTheDashboardImportsIt(t *testing.T) {
	inUI := func(pkg string) bool { return pkg == "ui" || strings.HasPrefix(pkg, "ui/") }
	for pkg, rule := range layers {
		// Main and the tests of the whole program are above the dashboard.
		if inUI(pkg) || pkg == "" || strings.HasPrefix(pkg, "tests/") {
			continue
		}
		for _, name := range rule.may {
			if inUI(name) {
				t.Errorf("%s may import %s; move what it needs to panes/kit", pkg, name)
			}
		}
	}
}

// Packages of the engine never call its API. The agents' server and the page may, because they are
// clients. So may the packages for other machines, which call the engines there.
func TestOnlyServersAreClientsWithinTheEngine(t *testing.T) {
	for pkg, rule := range layers {
		if slices.Contains(rule.may, "engine/api/client") && !mayCallAPI(pkg) {
			t.Errorf("%s may import engine/api/client; call the package behind the operation instead", pkg)
		}
	}
	for pkg, want := range map[string]bool{
		"ui": true, "engine/agent/mcp": true, "engine/agent/mcp/toolkit": true, "engine/page": true, "engine/remote/hosts": true, "engine/remote/all": true, "engine/api/client/retry": true, "enginetest": true,
		"engine": false, "engine/workspace/files": false, "engine/remote/copy": false, "engine/page/push": false, "engine/api/server": false,
	} {
		if mayCallAPI(pkg) != want {
			t.Errorf("mayCallAPI(%s) is %v, want %v", pkg, !want, want)
		}
	}
}

// mayCallAPI reports whether a package may be a client of the engine.
func mayCallAPI(pkg string) bool {
	within := pkg == "engine" || strings.HasPrefix(pkg, "engine/")
	return !within || strings.HasPrefix(pkg, "engine/agent/mcp") || pkg == "engine/page" || pkg == "engine/remote/hosts" || pkg == "engine/remote/all" || strings.HasPrefix(pkg, "engine/api/client/")
}

func TestLayersNameOnlyPackagesThatExist(t *testing.T) {
	existing := packageFiles(t)
	for pkg := range layers {
		if pkg != "" && existing[pkg] == nil {
			t.Errorf("package %s does not exist; remove it from layers", pkg)
		}
	}
}

// The NATS server is large, so only builds with the tag hub link it.
func TestOnlyTheHubLinksTheServer(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range serverPackages(string(out)) {
		t.Errorf("the plain build links %s; import it only in files with the tag hub", name)
	}
	if got := serverPackages("fmt\ngithub.com/nats-io/nats.go\ngithub.com/nats-io/nats-server/v2/server\n"); len(got) != 1 {
		t.Errorf("found %v, want only the server", got)
	}
}

// serverPackages returns the packages of the NATS server among those listed.
func serverPackages(list string) (found []string) {
	for name := range strings.FieldsSeq(list) {
		if strings.HasPrefix(name, "github.com/nats-io/nats-server/") {
			found = append(found, name)
		}
	}
	return found
}

// goFiles returns every Go file except tests, relative to the module.
func goFiles(t *testing.T) map[string]struct{} {
	t.Helper()
	files := map[string]struct{}{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files[path] = struct{}{}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}
