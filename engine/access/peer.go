package access

import (
	"context"
	"net"
	"net/netip"
	"os"

	"tandem/engine/api"
	"tandem/engine/proctree"
)

// AgentAt names whose process holds the client's end of a TCP connection to a server on this
// machine, if that is an agent's; "" for the user's own processes, for another user's and for
// other machines. A client that has exited already may have been an agent's, and so may a hidden
// process of the engine's user; both are named.
func (g *Guard) AgentAt(ctx context.Context, client, server netip.AddrPort) (string, error) {
	end, ok, err := proctree.FindSocket(client, server)
	if err != nil {
		return "", api.Errorf(api.CodeInternal, "find the process at %s: %v", client, err)
	}
	if !ok && !isOwnAddress(client.Addr()) {
		return "", nil // another machine's
	}
	if !ok || end.Inode == 0 {
		return exitedProcess, nil
	}
	if last := int(g.lastPeer.Load()); last > 0 && end.HeldBy(last) { // a browser has many connections, and /proc is large
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
		return "", nil // nothing of another user's process is read, and it is no agent's
	case len(hidden) == 0:
		return exitedProcess, nil
	}
	return g.agentAmong(ctx, hidden)
}

// agentAmong returns the agent behind any of pids, the engine user's processes with unreadable
// descriptors and environments, or "". sshd, which forwards tunnels, ssh-agent and the user's
// service manager are such processes, so only their ancestors count.
func (g *Guard) agentAmong(ctx context.Context, pids []int) (string, error) {
	for _, pid := range pids {
		if agent, err := g.agentNamed(ctx, g.ancestryOf(pid)); err != nil || agent != "" {
			return agent, err
		}
	}
	return "", nil
}

// exitedProcess stands for a process that nothing can be found out about any more.
const exitedProcess = "a process that has exited already"

// agentHolding returns the agent behind pid, or "". If pid does not hold the connection after the
// check, the process may have exited during it, so agentHolding returns exitedProcess.
func (g *Guard) agentHolding(ctx context.Context, end proctree.Socket, pid int) (string, error) {
	if pid == os.Getpid() {
		return "a confined process, through the engine's proxy", nil
	}
	agent, err := g.agentNamed(ctx, g.ancestryOf(pid).strict())
	if err == nil && agent == "" && !end.HeldBy(pid) {
		return exitedProcess, nil
	}
	return agent, err
}

// isOwnAddress reports whether an address is one of this machine's; true if that cannot be found out.
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
