package sandbox

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// hosts decides which hosts a process may reach: those allowed by every element. It is never empty.
type hosts []domains

func (h hosts) checkHost(host string) error {
	return h.checkAll(func(d domains) error { return d.checkHost(host) })
}

func (h hosts) checkAddress(host string, address netip.Addr) error {
	return h.checkAll(func(d domains) error { return d.checkAddress(host, address) })
}

func (h hosts) checkAll(check func(domains) error) error {
	for _, d := range h {
		if err := check(d); err != nil {
			return err
		}
	}
	return nil
}

// domains decides which hosts one profile lets a process reach.
type domains struct {
	allowed, denied hostList
}

// A hostList is a parsed list of domains.
type hostList struct {
	every     bool            // "*"
	names     map[string]bool // exact names
	suffixes  []string        // ".example.org" for "*.example.org"
	addresses map[netip.Addr]bool
}

func newDomains(n Network) (domains, error) {
	allowed, err := newHostList(n.AllowedDomains)
	if err != nil {
		return domains{}, fmt.Errorf("network.allowedDomains: %w", err)
	}
	denied, err := newHostList(n.DeniedDomains)
	if err != nil {
		return domains{}, fmt.Errorf("network.deniedDomains: %w", err)
	}
	return domains{allowed, denied}, nil
}

func newHostList(entries []string) (hostList, error) {
	l := hostList{names: map[string]bool{}, addresses: map[netip.Addr]bool{}}
	for _, entry := range entries {
		if entry == "*" {
			l.every = true
			continue
		}
		if address, ok := parseAddress(entry); ok {
			l.addresses[address] = true
			continue
		}
		suffix, wildcard := strings.CutPrefix(entry, "*.")
		name := normalName(suffix)
		if err := checkName(name); err != nil {
			return hostList{}, fmt.Errorf("%q: %w", entry, err)
		}
		if wildcard {
			l.suffixes = append(l.suffixes, "."+name)
		} else {
			l.names[name] = true
		}
	}
	return l, nil
}

// parseAddress parses an IP address, with or without brackets. A 4-in-6 address becomes IPv4.
func parseAddress(host string) (netip.Addr, bool) {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		host = strings.TrimSuffix(inner, "]")
	}
	address, err := netip.ParseAddr(host)
	if err != nil || address.Zone() != "" {
		return netip.Addr{}, false
	}
	return address.Unmap(), true
}

// normalName returns a host name in the form used for comparison: lower case, without a final dot.
func normalName(host string) string {
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// checkName limits a host name to the characters used in DNS: letters, digits, "-" and "_" (RFC
// 1035 section 2.3.4 for the lengths), and not all digits, because some resolvers take that for an
// address.
func checkName(name string) error {
	if name == "" {
		return errors.New("it is empty")
	}
	if len(name) > 253 {
		return errors.New("it is too long for a host name")
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 {
			return errors.New("it is not a host name")
		}
		for _, r := range label {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_", r) {
				return fmt.Errorf("%+q cannot be in a host name; give names without scheme, port and path, international ones as xn--", r)
			}
		}
	}
	if last := labels[len(labels)-1]; isNumber(last) {
		return errors.New("it is neither a host name nor an IP address")
	}
	return nil
}

// isNumber reports whether inet_aton(3) could read a label as part of an address.
func isNumber(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

func (l hostList) hasName(name string) bool {
	if l.every || l.names[name] {
		return true
	}
	for _, suffix := range l.suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

var (
	errNotAllowed = errors.New("it is not in allowedDomains")
	errDenied     = errors.New("it is in deniedDomains")
)

// checkHost returns why a host, as named by a client, may not be reached; nil if it may.
func (d domains) checkHost(host string) error {
	if address, ok := parseAddress(host); ok {
		switch {
		case d.denied.addresses[address]:
			return errDenied
		case !d.allowed.addresses[address]:
			return errNotAllowed
		}
		return nil
	}
	name := normalName(host)
	if err := checkName(name); err != nil {
		return err
	}
	switch {
	case d.denied.hasName(name):
		return errDenied
	case !d.allowed.hasName(name):
		return errNotAllowed
	}
	return nil
}

// checkAddress returns why an address of an allowed host may not be reached; nil if it may. The
// owner of a name could point it at this machine or its neighbours, so internal addresses must be
// listed themselves; only "localhost" in the list suffices.
func (d domains) checkAddress(host string, address netip.Addr) error {
	address = address.WithZone("").Unmap()
	switch {
	case d.denied.addresses[address]:
		return errDenied
	case d.allowed.addresses[address]:
		return nil
	case !isInternal(address):
		return nil
	case normalName(host) == "localhost" && d.allowed.names["localhost"] && address.IsLoopback():
		return nil
	}
	return fmt.Errorf("its address %s is internal and not itself in allowedDomains", address)
}

// isInternal reports whether an address is outside the public Internet (IANA special-purpose
// address registries) or embeds an IPv4 address.
func isInternal(address netip.Addr) bool {
	if !address.IsGlobalUnicast() || address.IsPrivate() {
		return true
	}
	for _, prefix := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
		"203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
	} {
		if netip.MustParsePrefix(prefix).Contains(address) {
			return true
		}
	}
	return false
}
