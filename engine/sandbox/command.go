package sandbox

import "net/url"

// Variables that tell the launch stage the proxy's URL and the data folder.
const (
	proxyVariable = "TANDEM_SANDBOX_PROXY"
	dataVariable  = "TANDEM_DATA_DIR"
)

// ChildPrefix stands before each variable of the process's in the environment
// of the launch stage, which takes it off: there, none means anything to the dynamic
// linker or a library, which would obey it before the process is confined.
const ChildPrefix = "TANDEM_CHILD_"

// Command returns the command line that starts argv confined by the profile in the file
// profilePath ("" for none) and with an octal umask ("" for the caller's). executable is this
// program; the process that it starts becomes argv, under the same pid.
func Command(executable, profilePath, umask string, argv []string) []string {
	return append([]string{executable, "launch", profilePath, umask, "--"}, argv...)
}

// Environ is the environment that Command is started in. env is that of the
// process which it becomes. dataDir is guarded, as by Layers.Check.
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

// Env is what a process in these layers needs in its environment, as
// "NAME=value", instead of variables of the same names. proxyURL comes from Proxy.Grant; it is
// not used where they need no proxy.
//
// Every variable names the HTTP proxy, which tunnels any TCP connection: many
// programs fail on a SOCKS address in ALL_PROXY. SOCKS 5 is available at the
// same address with the same user and password.
func (l Layers) Env(proxyURL string) []string {
	if !l.NeedsProxy() || proxyURL == "" {
		return nil
	}
	var env []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		env = append(env, name+"="+proxyURL)
	}
	// Node 24 and later obey the variables only with the last one.
	return append(env, "NO_PROXY=", "no_proxy=", "NODE_USE_ENV_PROXY=1")
}

// splitURL takes a proxy's URL apart.
func splitURL(proxyURL string) (address string, c credentials, ok bool) {
	u, err := url.Parse(proxyURL)
	if err != nil || u.User == nil || u.Port() == "" {
		return "", credentials{}, false
	}
	password, _ := u.User.Password()
	return u.Host, credentials{user: u.User.Username(), password: password}, true
}
