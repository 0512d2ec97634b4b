package tree

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "tandem"

// A layer is a package of ours: which others of ours it may import, and why
// it may not import more.
type layer struct {
	may []string
	why string
}

// layers is the architecture. A package that is not here must not exist.
var layers = map[string]layer{
	"": {[]string{"ui/cli/role"}, "main calls one function"},
	"ui/cli/role": {
		[]string{"ui", "ui/cli", "ui/cli/doctor", "ui/cli/fleet", "ui/cli/machines", "ui/cli/settings", "ui/attach", "engine", "engine/access", "engine/api", "engine/api/client", "engine/fleet", "engine/hosts/transport", "engine/keeper", "engine/sandbox", "engine/mcp", "engine/policy", "engine/proctree", "persist/datadir", "persist/store", "persist/config", "keys", "keys/keymap"},
		"roles are wired in one place, which knows nothing of what a pane or an emulator is made of",
	},
	"ui": {
		[]string{"engine/cellwidth", "panes", "panes/files", "panes/graphics", "panes/history", "panes/machines", "panes/preview", "panes/processes", "panes/sessions", "panes/terminal", "panes/web", "panes/widget", "ui/attach", "ui/conn", "ui/display", "ui/layout", "ui/overlay", "ui/predict", "ui/screen", "engine/api", "engine/api/client", "keys", "keys/keymap", "themes", "engine/sleep", "engine/units"},
		"the dashboard is a client: it knows the engine by its API alone",
	},
	"ui/conn": {
		[]string{"panes", "panes/terminal", "ui/conn/machines", "engine/api", "engine/api/client", "engine/api/client/retry", "engine/sleep"},
		"the engine is reached by its API, and what is known of it is handed on as it is",
	},
	"ui/conn/machines": {
		[]string{"panes", "engine/api", "engine/sleep"},
		"other machines are reached through the own engine, whichever client of it that is",
	},
	"ui/layout": {
		[]string{"engine/api", "engine/invariants", "panes/terminal", "panes/widget"},
		"how terminals lie beside each other does not depend on keys or on who keeps it",
	},
	"ui/overlay": {
		[]string{"engine/api", "engine/cellwidth", "keys", "keys/keymap", "panes/widget"},
		"a dialog asks the person; what comes of the answer is told it as a function",
	},
	"ui/display": {
		[]string{"engine/api", "engine/passthrough", "engine/styled", "engine/vt/xcolor", "panes/graphics"},
		"the answers of a terminal mean the same, whoever asked",
	},
	"ui/screen": {
		[]string{"engine/api", "engine/cellwidth", "engine/styled", "panes/graphics", "panes/widget", "ui/display", "keys", "engine/vt/scan"},
		"what is painted and what is typed pass through, whatever they mean",
	},
	"ui/pictures": {
		[]string{"engine/passthrough", "engine/styled", "engine/vt", "panes/graphics"},
		"pictures are converted in the same way whoever has the bytes",
	},
	"ui/attach": {
		[]string{"engine/api", "engine/api/client", "engine/passthrough", "engine/styled", "engine/vt", "keys", "panes/graphics", "ui/display", "ui/pictures", "ui/predict", "engine/sleep", "engine/api/outbox"},
		"a raw terminal needs a stream and the prefix key, and over a slow link the screen that its keys will change",
	},
	"ui/predict": {
		[]string{"engine/cellwidth", "engine/styled", "keys"},
		"what a key will do is guessed from a screen, whoever has it",
	},
	"ui/cli": {
		[]string{"ui/cli/shell", "ui/cli/codingagents", "ui/cli/files", "ui/cli/logs", "ui/cli/ls", "ui/cli/ps", "ui/cli/fleet", "ui/cli/machines", "ui/cli/web", "ui/cli/manual", "ui/cli/doctor", "ui/cli/cast", "ui/cli/settings", "ui/cli/setup", "ui/cli/tmux", "engine/passthrough", "ui/attach", "ui/predict", "ui/cli/output", "ui/cli/project", "ui/pick", "engine/api", "engine/api/client", "engine/api/client/retry", "engine/cellwidth", "keys", "persist/diag", "persist/datadir", "engine/sleep", "engine/units"},
		"the verbs are a client: they know the engine by its API alone, and which word was meant",
	},
	"ui/pick": {
		[]string{"engine/api", "engine/api/client", "panes/history", "panes/widget", "themes", "ui/display", "engine/sleep"},
		"the history in another terminal is the dashboard's list and no more of it; it leaves no answer of the terminal behind",
	},
	"ui/cli/codingagents": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "ui/cli/output", "ui/cli/procfs", "ui/cli/setup", "engine/units"},
		"what agents in sessions do is asked and told the same way, whatever else the command line can",
	},
	"ui/cli/cast": {
		[]string{"engine/api", "engine/api/client", "engine/passthrough", "ui/cli/output", "engine/api/client/retry", "engine/vt/scan", "engine/vt", "engine/picture", "panes/graphics", "ui/display", "ui/pictures", "engine/sleep"},
		"a recording is written and played the same way, whichever verb asks",
	},
	"ui/cli/doctor": {
		[]string{"engine/api", "engine/api/client", "themes", "ui/cli/output", "persist/datadir"},
		"what is wrong is looked for from outside: the engine may be what does not work",
	},
	"ui/cli/web": {
		[]string{"engine/api", "engine/api/client", "engine/page", "engine/page/devices", "engine/page/push", "ui/cli/output", "ui/qr", "engine/sleep", "engine/units"},
		"the verbs of the page are apart from it: what it serves does not depend on who started it",
	},
	"ui/qr": {nil, "a QR code is drawn the same way, whatever it says"},
	"ui/cli/files": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "ui/cli/output", "engine/units"},
		"a folder is asked for at the engine of its machine; the dashboard is opened by who has one",
	},
	"ui/cli/logs": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/api/logmerge", "engine/cellwidth", "engine/rendered", "engine/sleep", "ui/cli/output"},
		"as ui/cli/files; logs of several processes are merged as in the dashboard",
	},
	"ui/cli/ls": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "ui/cli/output"},
		"as ui/cli/files",
	},
	"ui/cli/ps": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "ui/cli/ls", "ui/cli/output", "engine/sleep", "engine/units"},
		"as ui/cli/files; what lives comes first as in ls",
	},
	"ui/cli/machines": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/hosts/bridge", "engine/hosts/transport", "ui/cli/output", "engine/sleep", "engine/units"},
		"who adds a machine talks to it as a link does, and else to the own engine",
	},
	"ui/cli/fleet": {
		[]string{"engine/api", "engine/api/client", "engine/fleet", "engine/fleet/hub", "engine/fleet/hub/embedded", "ui/cli/machines", "ui/cli/output", "persist/datadir", "engine/sleep", "engine/units"},
		"a hub and who joins it need no engine; embedded is in builds with the tag hub alone",
	},
	"ui/cli/settings": {
		[]string{"persist/trust", "ui/cli/doctor", "ui/cli/output"},
		"a configuration is shown and checked without knowing what it says",
	},
	"ui/cli/manual": {
		[]string{"ui/cli/output"},
		"help and manual are made of the commands alone",
	},
	"ui/cli/output": {
		[]string{"engine/api", "engine/cellwidth", "engine/units"},
		"an answer is printed the same way, whichever verb has it",
	},
	"ui/cli/project": {
		[]string{"engine/api", "engine/api/client", "persist/diag", "persist/trust", "ui/cli/output", "engine/api/client/retry", "engine/sleep", "engine/units"},
		"a project file becomes requests of the API, whatever the command line looks like",
	},
	"ui/cli/setup": {
		[]string{"engine/api", "persist/datadir"},
		"settings of other programs are edited whatever is asked and printed; of ours it knows where the socket is",
	},
	"ui/cli/procfs": {nil, "what /proc tells is known without knowing for what"},
	"ui/cli/tmux": {
		[]string{"engine/api", "engine/api/client", "ui/cli/output", "ui/cli/procfs", "ui/cli/tmux/cells", "ui/cli/tmux/format", "ui/cli/tmux/server", "persist/datadir"},
		"another program's command line over the API: what a pane runs is the engine's, how it is drawn the dashboard's",
	},
	"ui/cli/tmux/cells": {
		nil,
		"a window is divided whatever its panes hold",
	},
	"ui/cli/tmux/format": {
		nil,
		"a format asks for its variables and knows no session",
	},
	"ui/cli/tmux/server": {
		[]string{"ui/cli/tmux/cells", "ui/cli/tmux/format"},
		"numbers, names and options are kept and found without the engine",
	},
	"ui/cli/shell": {
		[]string{"ui/cli/output"},
		"a prompt runs any verbs",
	},
	"panes": {
		[]string{"engine/api", "keys", "keys/keymap", "panes/widget", "ui/overlay", "engine/units", "engine/api/outbox"},
		"what a pane may ask of the dashboard, and nothing of one pane",
	},
	"panes/widget": {
		[]string{"engine/cellwidth", "engine/rendered", "engine/api", "keys", "themes", "engine/styled", "engine/units"},
		"what panes share knows none of them",
	},
	"panes/processes": {
		[]string{"panes", "panes/widget", "ui/overlay", "engine/cellwidth", "engine/api", "engine/api/logmerge", "keys", "keys/keymap", "engine/sleep", "engine/units", "engine/vt/scan"},
		"a pane draws what the API tells, owns no policy and knows no other pane",
	},
	"panes/history": {
		[]string{"panes", "panes/widget", "ui/overlay", "engine/cellwidth", "engine/api", "keys", "keys/keymap", "engine/sleep", "engine/units"},
		"as panes/processes",
	},
	"panes/files": {
		[]string{"panes", "panes/graphics", "panes/preview", "panes/widget", "ui/overlay", "engine/api", "keys", "keys/keymap", "persist/datadir", "engine/sleep", "engine/units", "engine/shell"},
		"as panes/processes, but for the preview, which it shows beside the folder",
	},
	"panes/preview": {
		[]string{"panes/widget", "panes/graphics", "engine/cellwidth", "engine/api", "engine/vt/scan", "engine/units"},
		"as panes/processes",
	},
	"panes/inbox": {
		[]string{"panes", "panes/widget", "ui/overlay", "engine/api", "keys", "keys/keymap"},
		"it is a dialog over what is known of sessions and agents",
	},
	"panes/sessions": {
		[]string{"panes", "panes/inbox", "panes/widget", "ui/overlay", "engine/api", "keys", "keys/keymap", "engine/units"},
		"as panes/processes",
	},
	"panes/web": {
		[]string{"keys/keymap", "panes", "panes/widget", "ui/overlay", "ui/qr"},
		"it shows a link; serving the page is another program's",
	},
	"panes/machines": {
		[]string{"panes", "panes/widget", "ui/overlay", "engine/api", "engine/units"},
		"as panes/processes",
	},
	"panes/terminal": {
		[]string{"panes", "panes/graphics", "panes/widget", "ui/overlay", "ui/predict", "engine/cellwidth", "engine/api", "keys", "keys/keymap", "engine/styled", "engine/units", "engine/api/outbox"},
		"as panes/processes; what a key will do is guessed as in attach",
	},
	"engine": {
		[]string{"engine/access", "engine/agents", "engine/api", "engine/api/server", "engine/approval", "engine/fleet", "engine/history", "engine/hosts", "engine/hosts/transport", "engine/keeper", "engine/logs", "engine/names", "engine/proctree", "engine/prompt", "engine/readiness", "engine/sandbox", "engine/secrets", "engine/service", "engine/shell", "engine/supervise", "engine/terminal", "engine/vt", "engine/vt10x", "engine/worktrees", "persist/histdb", "persist/ptylog", "persist/store", "engine/panics", "persist/datadir", "engine/sleep"},
		"the engine has no screen of its own",
	},
	"engine/access": {
		[]string{"engine/api", "engine/api/server", "engine/proctree", "engine/sandbox", "engine/terminal", "persist/store", "persist/trust"},
		"who may call what is decided before anything serves the call",
	},
	"engine/readiness": {
		[]string{"engine/access", "engine/api", "engine/names", "engine/sandbox", "persist/store", "engine/sleep"},
		"whether something answers is found out the same way, whoever waits for it",
	},
	"engine/hosts": {
		[]string{"engine/api", "engine/api/wire", "engine/hosts/transport", "engine/panics"},
		"a link carries bytes to another engine, whoever's they are",
	},
	"engine/fleet": {
		[]string{"engine/api", "engine/fleet/search", "engine/hosts/transport", "engine/panics", "engine/sleep"},
		"a connection through a hub carries bytes to an engine, which it is told how to reach",
	},
	"engine/fleet/search": {
		[]string{"engine/api", "engine/panics", "engine/sleep"},
		"answers are merged however machines are reached",
	},
	"engine/fleet/hub": {
		[]string{"engine/api", "engine/fleet", "engine/panics", "engine/sleep"},
		"who belongs to a fleet is decided whatever server carries its messages",
	},
	"engine/fleet/hub/embedded": {
		[]string{"engine/fleet/hub"},
		"a server passes messages on; who may connect it is told",
	},
	"engine/hosts/bridge": {
		[]string{"engine/api", "engine/hosts/transport"},
		"the far end joins streams to an engine, and is told how to reach it",
	},
	"engine/hosts/transport": {
		[]string{"engine/api"},
		"how a machine is reached is the same for the engine's link and for a person who adds it",
	},
	"engine/service": {
		[]string{"engine/access", "engine/agents", "engine/api", "engine/api/server", "engine/approval", "engine/conditions", "engine/files", "engine/fleet", "engine/history", "engine/hosts", "engine/hosts/transport", "engine/keeper", "engine/logs", "engine/names", "engine/proctree", "engine/prompt", "engine/pty", "engine/readiness", "engine/search", "engine/secrets", "engine/supervise", "engine/terminal", "engine/worktrees", "keys", "persist/histdb", "persist/store", "engine/panics", "engine/sleep"},
		"a handler says what a call means; what owns sessions, files or the history does it",
	},
	"engine/files/archive": {
		nil,
		"an archive is unpacked into whatever folder it is given",
	},
	"engine/mcp/toolkit": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/vt/scan", "engine/sleep", "engine/shell", "engine/rendered"},
		"what a tool is made of knows no tool",
	},
	"engine/mcp/profiles/native": {
		[]string{"engine/api", "engine/mcp/profiles/plugin", "engine/mcp/toolkit", "keys", "engine/vt/scan"},
		"it stops processes as the profile plugin does, and lends its other tools nothing",
	},
	"engine/mcp/profiles/core":     {[]string{"engine/api", "engine/mcp/toolkit"}, "a profile knows no other profile"},
	"engine/mcp/profiles/android":  {[]string{"engine/api", "engine/mcp/toolkit", "engine/sleep", "engine/shell"}, "a profile knows no other profile"},
	"engine/mcp/profiles/osenv":    {[]string{"engine/api", "engine/mcp/toolkit"}, "a profile knows no other profile"},
	"engine/mcp/profiles/terminal": {[]string{"engine/api", "engine/mcp/toolkit"}, "a profile knows no other profile"},
	"engine/mcp/profiles/plugin":   {[]string{"engine/api", "engine/mcp/toolkit", "engine/vt/scan"}, "a profile knows no other profile"},
	"engine/httplimit":             {nil, "what a client of HTTP may hold open does not depend on what it asks for"},
	"engine/mcp": {
		[]string{"engine/api", "engine/api/client", "engine/api/client/retry", "engine/mcp/toolkit", "engine/mcp/profiles/android", "engine/mcp/profiles/core", "engine/mcp/profiles/native", "engine/mcp/profiles/osenv", "engine/mcp/profiles/plugin", "engine/mcp/profiles/terminal", "persist/datadir", "engine/httplimit", "engine/sleep", "engine/shell"},
		"agents are clients of the API, equal to the person's dashboard",
	},
	"engine/page": {
		[]string{"engine/api", "engine/api/client", "engine/page/devices", "engine/page/push", "persist/datadir", "engine/httplimit", "engine/proctree", "engine/cellwidth", "engine/sleep"},
		"the page is a client of the API, equal to the person's dashboard",
	},
	"engine/page/push":    {[]string{"engine/api", "engine/page/devices", "persist/datadir"}, "it reads events and sends pushes; it needs nothing of the page"},
	"engine/page/devices": {[]string{"persist/datadir"}, "who may use the page is a file, whatever the page shows"},
	"engine/api/client": {
		[]string{"engine/api", "engine/api/outbox", "engine/api/wire", "persist/datadir"},
		"a client knows the operations and the connection, nothing of what serves them",
	},
	"engine/api/logmerge": {
		[]string{"engine/api"},
		"whose a line is and which comes first does not depend on how it is shown",
	},
	"engine/api/client/retry": {
		[]string{"engine/api", "engine/api/client", "engine/sleep"},
		"what outlives an engine calls the next one, whoever looks on",
	},
	"engine/api/outbox": {
		[]string{"engine/api", "engine/api/wire"},
		"input waits in order whether or not a connection exists",
	},
	"engine/api/server": {
		[]string{"engine/api", "engine/api/wire", "engine/secrets", "engine/panics"},
		"a server knows the operations and the connection; what an operation does is its handler's",
	},
	"engine/api/wire": {
		[]string{"engine/api", "keys", "engine/styled"},
		"what both ends share must not pull either end in",
	},
	"engine/api": {
		[]string{"keys", "engine/styled", "persist/datadir"},
		"the language both sides speak must not pull either side in",
	},
	"engine/picture": {
		[]string{"engine/cellwidth", "engine/vt", "engine/vt/graphics", "engine/styled"},
		"a picture is drawn of what an emulator shows, whoever asks",
	},
	"engine/vt10x": {
		[]string{"engine/vt/grid"},
		"a grid knows the interface it fills and nothing else",
	},
	"engine/keeper":      {nil, "the keeper cannot be upgraded while it lives, so nothing of ours may change under it"},
	"engine/vt":          {[]string{"engine/cellwidth", "engine/invariants", "engine/vt/charset", "engine/vt/graphics", "engine/vt/grid", "engine/vt/history", "engine/vt/notice", "engine/vt/palette", "engine/vt/scan", "engine/vt/terminfo", "keys", "engine/styled"}, "an emulator is bytes in and a screen out, with the modes that keys are encoded for"},
	"engine/vt/charset":  {nil, "a character set is a table"},
	"engine/vt/graphics": {[]string{"engine/invariants", "engine/styled", "engine/sleep"}, "a picture is decoded wherever it is shown"},
	"engine/vt/grid":     {[]string{"engine/invariants"}, "cells are kept whatever they show"},
	"engine/vt/history":  {[]string{"engine/invariants", "engine/styled", "engine/vt/graphics", "engine/vt/grid"}, "lines are kept whatever made them"},
	"engine/vt/notice":   {[]string{"engine/vt/scan"}, "it assembles text; who is notified is not its concern"},
	"engine/vt/palette":  {[]string{"engine/styled", "engine/vt/xcolor"}, "colours are told and changed the same way, whatever is drawn in them"},
	"engine/vt/scan":     {nil, "bytes are told apart whatever they draw"},
	"engine/vt/terminfo": {nil, "a capability is a name and a text"},
	"engine/vt/xcolor":   {nil, "a colour is read whatever it colours"},
	"engine/styled":      {nil, "what text looks like means the same to who emulates, sends and draws it"},
	"engine/cellwidth":   {nil, "what is emulated and what is drawn must count alike, whoever counts"},
	"engine/files":       {[]string{"engine/files/archive", "engine/git", "engine/panics", "engine/search", "engine/vt/scan", "engine/sleep"}, "confined file operations stand alone"},
	"engine/conditions":  {[]string{"engine/panics"}, "what is waited for, and where, its callers know"},
	"engine/invariants":  {nil, "what must hold is known to the package that checks it"},
	"engine/sleep":       {nil, "a pause is cut short the same way, whoever makes it"},
	"engine/units":       {nil, "a size or a time reads the same wherever it is shown"},
	"engine/panics":      {nil, "a panic is carried between any goroutines"},
	"engine/policy":      {[]string{"persist/diag"}, "what an agent may do is decided by rules and nothing that runs"},
	"engine/secrets":     {nil, "what a secret looks like does not depend on where it would be kept"},
	"engine/shell":       {nil, "what a command line means to bash depends on the line alone"},
	"engine/pty":         {[]string{"engine/proctree"}, "the kernel is asked, whoever wants to know"},
	"engine/prompt":      {[]string{"engine/api", "engine/conditions", "engine/logs", "engine/names", "engine/proctree", "engine/pty", "engine/vt", "keys", "engine/styled", "engine/panics", "engine/sleep"}, "a shell has some terminal, whose session it need not know"},
	"engine/sandbox":     {[]string{"engine/keeper", "engine/panics", "engine/sleep"}, "the launch stage links as little as possible; what confines a process is applied in one place, which is the keeper's"},
	"engine/names":       {[]string{"engine/api", "engine/secrets", "engine/shell"}, "a name or a pattern is checked and shown the same way, whatever it is of"},
	"engine/proctree":    {[]string{"engine/api", "engine/names", "persist/store", "engine/panics", "engine/sleep"}, "what came of a child is read from the kernel, whoever wants it ended"},
	"engine/search":      {nil, "lines are searched the same way, whatever they are of"},
	"engine/rendered":    {[]string{"engine/cellwidth"}, "a line of output looks the same whoever shows it"},
	"engine/logs":        {[]string{"engine/api", "engine/names", "engine/rendered", "engine/search", "persist/linelog", "persist/sparse", "persist/ptylog", "engine/vt/scan", "engine/panics"}, "a log is a file that grows, whoever writes it"},
	"engine/agents":      {[]string{"engine/api", "engine/proctree", "engine/prompt", "engine/pty", "engine/terminal", "keys", "persist/diag", "persist/store", "engine/files", "engine/panics"}, "what an agent does is seen in its terminal, and which keys answer it; who is told of it is not its business"},
	"engine/supervise":   {[]string{"engine/agents", "engine/api", "engine/history", "engine/invariants", "engine/keeper", "engine/logs", "engine/mailbox", "engine/names", "engine/proctree", "engine/prompt", "engine/secrets", "engine/terminal", "persist/histdb", "persist/store", "engine/panics", "engine/shell"}, "the loop decides what becomes of processes; how that is done is its world's"},
	"engine/git":         {[]string{"engine/panics"}, "git is run without knowing for what"},
	"engine/worktrees":   {[]string{"engine/git"}, "git's worktrees are made without knowing for what"},
	"engine/mailbox":     {nil, "a queue does not know what is in it"},
	"engine/history":     {[]string{"engine/api", "engine/api/server", "engine/mailbox", "engine/names", "engine/panics", "engine/secrets", "persist/histdb"}, "the history keeps commands, whatever ran them"},
	"engine/passthrough": {[]string{"engine/api"}, "bytes pass or do not, whichever side of the socket writes them"},
	"engine/terminal":    {[]string{"engine/api", "engine/api/server", "engine/invariants", "engine/logs", "engine/names", "engine/passthrough", "engine/picture", "engine/prompt", "engine/pty", "engine/vt", "engine/vt/graphics", "engine/vt/scan", "keys", "persist/store", "engine/styled", "engine/panics", "engine/sleep"}, "a session knows its terminal and nothing of other processes"},
	"engine/approval":    {[]string{"engine/api", "engine/api/server", "engine/names", "engine/policy", "engine/secrets", "engine/vt/scan", "persist/store", "persist/trust", "engine/cellwidth", "engine/shell"}, "whether an agent may is decided without knowing what would run"},
	"panes/graphics":     {[]string{"engine/styled"}, "how a picture is written does not depend on where it is shown"},
	"persist/store":      {[]string{"persist/datadir"}, "how things lie on disk is independent of who asks"},
	"persist/datadir":    {nil, "a name on disk is the same for all who use the file"},
	"persist/sparse":     {nil, "what a file system offers is independent of what lies on it"},
	"persist/ptylog":     {[]string{"persist/sparse", "persist/store"}, "a log knows nothing of the terminal that fills it"},
	"persist/linelog":    {[]string{"persist/sparse", "persist/store"}, "lines are found in any log, whoever writes it"},
	"persist/trust":      {nil, "who may have written a file does not depend on what it is for"},
	"persist/diag":       {nil, "a mistake in a text is shown the same way, whatever the text is for"},
	"persist/config":     {[]string{"keys/keymap", "persist/diag", "themes", "persist/datadir", "persist/trust"}, "the configuration is read without what it configures"},
	"persist/histdb":     {[]string{"persist/store", "persist/datadir"}, "the history is rows, whoever searches them"},
	"persist/logtest":    {[]string{"persist/sparse"}, "what the tests of logs share"},
	"panes/enginetest":   {[]string{"panes", "engine/api", "engine/api/outbox", "keys"}, "what every engine behind the dashboard must do is told in the words of the API"},
	"panes/panestest":    {[]string{"panes", "panes/widget", "ui/overlay", "engine/api", "keys/keymap"}, "what stands in for the dashboard and the engine offers what panes ask of them"},
	"keys":               {nil, "what a key is does not depend on who is told"},
	"keys/keymap":        {[]string{"keys"}, "what keys mean in the dashboard is data; the engine only encodes keys"},
	"tests/harness":      {[]string{"engine/api", "engine/styled", "engine/vt", "engine/vt10x", "keys", "ui/cli/role"}, "tests run the program and look at it from outside"},
	"tests/leaks":        {nil, "any package may start goroutines"},
	"tests/needs":        {nil, "any test may be skipped"},
	"tests/report":       {[]string{"engine/proctree"}, "go test is run and read without knowing what it tests"},
	"themes":             {nil, "a palette becomes styles and nothing more"},
}

func TestPackagesImportOnlyWhatTheArchitectureAllows(t *testing.T) {
	for file := range goFiles(t) {
		pkg := filepath.ToSlash(filepath.Dir(file))
		if pkg == "." {
			pkg = ""
		}
		rule, known := layers[pkg]
		if !known {
			t.Errorf("%s: package %q has no place in the architecture; add it to layers with its reason", file, pkg)
			continue
		}
		for _, imported := range imports(t, file) {
			name, ours := strings.CutPrefix(imported, module+"/")
			if ours && !slices.Contains(rule.may, name) {
				t.Errorf("%s imports %s, which %q may not: %s", file, name, pkg, rule.why)
			}
		}
	}
}

// What the engine is made of never calls the engine; the agents' server and the page do.
func TestOnlyServersAreClientsWithinTheEngine(t *testing.T) {
	for pkg, rule := range layers {
		within := pkg == "engine" || strings.HasPrefix(pkg, "engine/")
		if within && !strings.HasPrefix(pkg, "engine/mcp") && pkg != "engine/page" && !strings.HasPrefix(pkg, "engine/api/client/") && slices.Contains(rule.may, "engine/api/client") {
			t.Errorf("%s may import engine/api/client", pkg)
		}
	}
}

func TestLayersNameOnlyPackagesThatExist(t *testing.T) {
	there := packageFiles(t)
	for pkg := range layers {
		if pkg != "" && there[pkg] == nil {
			t.Errorf("there is no package %s any more; take it out of layers", pkg)
		}
	}
}

func TestKeeperLinksFewPackages(t *testing.T) {
	heavy := []string{"net/http", "charm.land/", "github.com/spf13/", "github.com/coder/"}
	for file := range goFiles(t) {
		if filepath.ToSlash(filepath.Dir(file)) != "engine/keeper" {
			continue
		}
		for _, imported := range imports(t, file) {
			for _, prefix := range heavy {
				if strings.HasPrefix(imported, prefix) {
					t.Errorf("%s imports %s: %s", file, imported, layers["engine/keeper"].why)
				}
			}
		}
	}
}

// What carries a fleet's messages is large: builds without the tag hub have nothing of it.
func TestOnlyTheHubLinksTheServer(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "github.com/nats-io/nats-server/") {
			t.Errorf("the plain build links %s", line)
		}
	}
}

// goFiles yields every Go file that is not a test, relative to the module.
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
