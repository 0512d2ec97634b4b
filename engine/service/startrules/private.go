package startrules

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/control/supervise"
	"tandem/persist/store"
)

// Privacy makes sessions private: on request, and those of some folders. The zero value has no
// folders.
type Privacy struct {
	// MayUse returns an error if the caller of ctx may not use a private session called name. If it
	// is nil, every caller may.
	MayUse func(ctx context.Context, name string) error

	folders atomic.Pointer[[]string]
}

// SetFolders sets the folders whose sessions are all private. A path may begin with ~.
func (p *Privacy) SetFolders(folders []string) {
	home, _ := os.UserHomeDir()
	var absolute []string
	for _, folder := range folders {
		if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || rest[0] == '/') {
			folder = home + rest
		}
		absolute = append(absolute, filepath.Clean(folder))
	}
	p.folders.Store(&absolute)
}

// A Start has the parts of a request for a session that bear on its privacy.
type Start struct {
	Private bool // requested, or it is started from a private session
	Named   bool // the request names it
	Sandbox bool // the request has a sandbox
}

// Apply makes the record of a new session private if the request or its folder asks for that. It
// returns an error if the caller may not use private sessions, or if something else in the request
// cannot be had in one.
func (p *Privacy) Apply(ctx context.Context, r *store.Record, in Start) error {
	folder := ""
	if r.TTY {
		folder = p.folderWith(r.CWD)
	}
	switch {
	case !in.Private && folder == "":
		return nil
	case !r.TTY:
		return api.Errorf(api.CodeInvalid, "start process: only a session can be private").WithHint("start it with a terminal")
	case p.MayUse != nil && p.MayUse(ctx, r.Name) != nil && !in.Private:
		return api.Errorf(api.CodeForbidden, "start session in %s: sessions in %s are private, and only the user may start those", names.ShownPath(r.CWD), names.ShownPath(folder)).
			WithHint("start it in another folder; history.private in config.toml lists the private ones")
	case p.MayUse != nil && p.MayUse(ctx, r.Name) != nil:
		return api.Errorf(api.CodeForbidden, "start private session: only the user may do that")
	case in.Sandbox:
		return api.Errorf(api.CodeInvalid, "start private session: it cannot have a sandbox, whose rules are kept in a file")
	case r.Restart.Policy != "" && r.Restart.Policy != string(api.PolicyNo):
		return api.Errorf(api.CodeInvalid, "start private session: it cannot be restarted automatically, because its command is kept only in memory")
	}
	if r.Private = true; !in.Named {
		r.Name = supervise.PrivateName
	}
	return nil
}

// folderWith returns the private folder of a session started in folder, or "". A path through a
// link counts as well, whether the link leads into the private folder or out of it.
func (p *Privacy) folderWith(folder string) string {
	all := p.folders.Load()
	if all == nil {
		return ""
	}
	for _, private := range *all {
		if isWithin(folder, private) || isWithin(resolve(folder), resolve(private)) {
			return private
		}
	}
	return ""
}

func isWithin(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
