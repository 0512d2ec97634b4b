// Package fleet connects many machines through NATS. Every engine dials out to a hub; none has to
// accept connections from the network. A machine publishes its state and its processes in two
// key-value buckets; a person's engine reads them and opens connections to single machines. Such a
// connection carries the ordinary API.
package fleet

import (
	"fmt"
	"slices"
	"strings"

	"tandem/engine/api"
)

// Each machine writes only its own keys: NAME in HostsBucket, NAME.ID in ProcessesBucket.
const (
	HostsBucket     = "tandem_hosts"
	ProcessesBucket = "tandem_processes"
)

// A Role limits a person's rights on the machines of the fleet.
type Role = api.FleetRole

// ValidRole reports whether r is one of Roles.
func ValidRole(r Role) bool { return slices.Contains(Roles(), string(r)) }

// Roles returns all roles, the least powerful first.
func Roles() []string {
	return []string{string(api.RoleRead), string(api.RoleOperate), string(api.RoleAdmin)}
}

// ValidName reports whether name is a valid name of a machine or person: one token of a subject,
// hence without dots.
func ValidName(name string) bool {
	for i, r := range name {
		if !isAlphanumeric(r) && (i == 0 || !strings.ContainsRune("_-", r)) {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

// ValidLabel reports whether label is a valid label, key=value.
func ValidLabel(label string) bool {
	key, value, ok := strings.Cut(label, "=")
	return ok && ValidName(key) && ValidName(value)
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// Subjects. A link is the pair of subjects of one connection; its id is known only to its two ends.
func openSubject(machine, person string) string   { return "tandem.host." + machine + ".open." + person }
func anySubject(label, person string) string      { return "tandem.any." + label + "." + person }
func upSubject(machine, person, id string) string { return linkSubject(machine, person, id, "up") }
func downSubject(machine, person, id string) string {
	return linkSubject(machine, person, id, "down")
}

func linkSubject(machine, person, id, direction string) string {
	return fmt.Sprintf("tandem.link.%s.%s.%s.%s", machine, person, id, direction)
}

// JoinSubject is the subject for redeeming invitations.
const JoinSubject = "tandem.join"

// HubSubject returns the subject for requests to the hub, open to people with the role admin and to
// the owner of the hub's folder.
func HubSubject(asker, what string) string { return "tandem.hub." + asker + "." + what }

// InboxPrefix is the prefix of all inboxes.
const InboxPrefix = "_INBOX_"

// Inbox returns the prefix of the subjects to which only one user can subscribe.
func Inbox(kind Kind, name string) string { return InboxPrefix + string(kind) + "_" + name }

// Covers reports whether subject matches pattern, in which * matches one token. A consumer can make
// JetStream deliver rows, under their own subject, to any subscription, so receivers must check.
func Covers(pattern, subject string) bool {
	for pattern != "" && subject != "" {
		var want, token string
		want, pattern, _ = strings.Cut(pattern, ".")
		token, subject, _ = strings.Cut(subject, ".")
		if want != token && (want != "*" || token == "") {
			return false
		}
	}
	return pattern == "" && subject == ""
}
