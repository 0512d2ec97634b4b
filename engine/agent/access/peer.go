package access

import (
	"context"
	"net"
	"net/netip"
	"os"

	"tandem/engine/api"
	"tandem/engine/system/proctree"
)

// AgentAt returns the name of the agent whose process holds the client's end of a TCP connection to
// a server on this machine. It returns "" for the user's own processes, for other users' and for
// other machines. A process already exited, or one hidden from the engine's user, might belong to
// an agent and is named too.
func (g *Guard) AgentAt(ctx context.Context, client, server netip.AddrPort) (string, error) {
	end, ok, err := proctree.FindSocket(client, server)
	if err != nil {
		return "", api.Errorf(api.CodeInternal, "find the process at %s: %v", client, err)
	}
	if !ok && !isOwnAddress(client.Addr()) {
		return "", nil // on another machine
	}
	if !ok || end.Inode == 0 {
		return exitedProcess, nil
	}
	if last := int(g.lastPeer.Load()); last > 0 && end.HeldBy(last) { // fast path: a browser has many connections, and searching /proc is slow
		return g.agentHolding(ctx, end, last)
	}
	owners, hidden, err := end.Owners()
	if err != nil {
		return "", api.Errorf(api.CodeInternal, "find the process at %s: %v", client, err)
	}
	switch {
	case len(owners) > 0:
		for _, pid := range owners {
			if agent, err := g.agentHolding(ctx, end, pid); err != nil || agent != "" {
				return agent, err
			}
		}
		g.lastPeer.Store(int64(owners[0]))
		return "", nil
	case end.UID != os.Getuid():
		return "", nil // another user's processes are never an agent's and cannot be read
	case len(hidden) == 0:
		return exitedProcess, nil
	}
	return g.agentAmong(ctx, hidden)
}

// agentAmong returns the name of the agent behind any of pids, or "". The descriptors and
// environments of these processes cannot be read although they belong to the engine's user: they
// are sshd, ssh-agent, the user's service manager and the like. Therefore only their ancestors
// count.
func (g *Guard) agentAmong(ctx context.Context, pids []int) (string, error) {
	for _, pid := range pids {
		if agent, err := g.nameAgentAbove(ctx, g.ancestryOf(pid)); err != nil || agent != "" {
			return agent, err
		}
	}
	return "", nil
}

// exitedProcess describes a process that can no longer be inspected.
const exitedProcess = "a process that has exited already"

// agentHolding returns the agent behind pid, or "". It returns exitedProcess if pid no longer holds
// the connection after the check, because the process may have exited during it.
func (g *Guard) agentHolding(ctx context.Context, end proctree.Socket, pid int) (string, error) {
	if pid == os.Getpid() {
		return "a confined process, through the engine's proxy", nil
	}
	agent, err := g.nameAgentAbove(ctx, g.ancestryOf(pid).asStrict())
	if err == nil && agent == "" && !end.HeldBy(pid) {
		return exitedProcess, nil
	}
	return agent, err
}

// isOwnAddress reports whether an address belongs to this machine, or true if that is unknown.
func isOwnAddress(ip netip.Addr) bool {
	if ip = ip.Unmap().WithZone(""); ip.IsLoopback() {
		return true
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return true
	}
	for _, a := range own {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == ip {
			return true
		}
	}
	return false
}
