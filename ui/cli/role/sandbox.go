package role

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"tandem/engine/agent/access"
	"tandem/engine/api"
	"tandem/engine/api/sockets"
	"tandem/engine/system/sandbox"
	"tandem/persist/config"
	"tandem/persist/config/settings"
	"tandem/ui/cli/doctor"
	configverbs "tandem/ui/cli/settings"
)

// sandboxHere describes the confinement of agents on this machine for the doctor.
func sandboxHere() doctor.Sandbox {
	here := doctor.Sandbox{}
	for _, p := range sandbox.Promises() {
		here.Promises = append(here.Promises, doctor.Promise{Name: p.Name, Why: p.Why})
	}
	conf, err := config.LoadAgents(dataDirOrNone())
	if err != nil {
		here.Fault = errors.New(configverbs.Heading(err)) // the check of config.toml reports the rest
		return here
	}
	here.Profile, here.Fault = conf.Agents.Sandbox, checkEnforceable(conf.Agents)
	return here
}

// registries are the hosts from which Go, npm and pip download packages.
var registries = []string{"proxy.golang.org", "sum.golang.org", "registry.npmjs.org", "pypi.org", "files.pythonhosted.org"}

// workProfile returns a sandbox profile for agents that work in dir. They may write to the
// repository around dir, the existing caches of Go, npm and pip, and the temporary folder. They may
// not read the existing files that findSecrets returns.
func workProfile(dir string) ([]byte, error) {
	p := sandbox.Profile{Network: &sandbox.Network{AllowedDomains: registries, DeniedDomains: []string{}}}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return nil, err
	}
	socket, _ := sockets.Paths(dataDir)
	p.Filesystem.DenyRead = append(findSecrets(home), dataDir, filepath.Dir(config.PolicyPath()))
	p.Filesystem.DenyWrite = []string{}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	writable := []string{
		repositoryRoot(dir), os.TempDir(),
		cmp.Or(os.Getenv("GOCACHE"), filepath.Join(cache, "go-build")),
		cmp.Or(os.Getenv("GOMODCACHE"), filepath.Join(cmp.Or(os.Getenv("GOPATH"), filepath.Join(home, "go")), "pkg", "mod")),
		cmp.Or(os.Getenv("npm_config_cache"), filepath.Join(home, ".npm")),
		cmp.Or(os.Getenv("PIP_CACHE_DIR"), filepath.Join(cache, "pip")),
	}
	for _, path := range writable {
		// The sandbox rejects paths that do not exist.
		info, err := os.Stat(path)
		// It also rejects a folder with the engine's socket.
		if err == nil && info.IsDir() && filepath.IsAbs(path) && !strings.HasPrefix(socket, path+"/") {
			p.Filesystem.AllowWrite = append(p.Filesystem.AllowWrite, path)
		}
	}
	text, err := json.MarshalIndent(p, "", "\t")
	return append(text, '\n'), err
}

// repositoryRoot returns the root of the Git repository around dir, or dir itself.
func repositoryRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// checkEnforceable returns why the agents' sandbox cannot be enforced here, or nil.
func checkEnforceable(c settings.Agents) error {
	s, err := access.ReadSandbox(c.Sandbox)
	if err != nil || s == nil {
		return err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	profile, err := sandbox.Parse(text)
	if err != nil {
		return err
	}
	dataDir, err := api.DataDir()
	if err != nil {
		return err
	}
	return sandbox.Layers{profile}.Check(api.ClosedFolders(dataDir, config.PolicyPath())...)
}
