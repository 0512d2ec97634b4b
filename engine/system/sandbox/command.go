package sandbox

import "net/url"

// Variables passing the proxy's URL and the data directory to the launch stage.
const (
	proxyVariable = "TANDEM_SANDBOX_PROXY"
	dataVariable  = "TANDEM_DATA_DIR"
)

// ChildPrefix precedes each variable of the process in the environment of the launch stage, which
// removes it. Under its own name, a variable such as LD_PRELOAD would affect the launch stage
// before the process is confined.
const ChildPrefix = "TANDEM_CHILD_"

// Command returns the command line that starts argv confined by the profile in the file profilePath
// ("" for none) and with an octal umask ("" for the caller's). executable is this program; its
// process becomes argv under the same PID.
func Command(executable, profilePath, umask string, argv []string) []string {
	return append([]string{executable, "launch", profilePath, umask, "--"}, argv...)
}

// Environ returns the environment for Command. env is the environment of the resulting process.
// dataDir is guarded, as in Layers.Check.
func Environ(env []string, dataDir, proxyURL string) []string {
	own := []string{dataVariable + "=" + dataDir}
	if proxyURL != "" {
		own = append(own, proxyVariable+"="+proxyURL)
	}
	for _, pair := range env {
		own = append(own, ChildPrefix+pair)
	}
	return own
}

// Env returns the variables needed by a process in these layers, as "NAME=value"; they replace
// variables of the same names. proxyURL comes from Proxy.Grant, and is ignored if the layers need
// no proxy.
//
// Every variable names the HTTP proxy, which tunnels any TCP connection, because many programs fail
// on a SOCKS address in ALL_PROXY. SOCKS 5 is available at the same address with the same user and
// password.
func (l Layers) Env(proxyURL string) []string {
	if !l.NeedsProxy() || proxyURL == "" {
		return nil
	}
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+proxyURL)
	}
	// Node 24 and later use the proxy variables only if NODE_USE_ENV_PROXY is set.
	return append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1")
}

// splitURL splits a proxy's URL.
func splitURL(proxyURL string) (address string, c credentials, ok bool) {
	u, err := url.Parse(proxyURL)
	if err != nil || u.User == nil || u.Port() == "" {
		return "", credentials{}, false
	}
	password, _ := u.User.Password()
	return u.Host, credentials{user: u.User.Username(), password: password}, true
}
