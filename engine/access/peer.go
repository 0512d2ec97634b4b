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
		return "a process that has exited already", nil
	}
	owners, hidden, err := end.Owners()
	if err != nil {
		return "", api.Errorf(api.CodeInternal, "find the process at %s: %v", client, err)
	}
	if len(owners) == 0 {
		owners = hidden // of another user's process nothing is read, and it is no agent's
		if end.UID != os.Getuid() {
			return "", nil
		}
	}
	for _, pid := range owners {
		if pid == os.Getpid() {
			return "a confined process, through the engine's proxy", nil
		}
		if behind, err := g.agentBehind(ctx, pid); err != nil || behind != "" {
			return behind, err
		}
	}
	return "", nil
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
