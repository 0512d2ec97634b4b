package fleet

import (
	"errors"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nkeys"

	"tandem/engine/api"
)

// A Kind is the kind of a user of the fleet.
type Kind string

const (
	KindMachine Kind = "machine"
	KindPerson  Kind = "person"
)

// Kinds of users created by the hub itself.
const (
	KindOwner  Kind = "owner"  // the owner of the hub's folder
	KindHub    Kind = "hub"    // the hub
	KindJoiner Kind = "joiner" // anyone redeeming an invitation
)

// A User is the holder of credentials.
type User struct {
	Kind   Kind
	Name   string
	Role   Role     // of a person
	Labels []string // of a machine, "key=value"
}

// Tags in a user's JWT, signed by the account.
const (
	tagKind  = "tandem-kind:"
	tagRole  = "tandem-role:"
	tagLabel = "tandem-label:"
)

// claims returns the claims of the user's JWT for a public key, including its permissions.
func (u User) claims(key string) *jwt.UserClaims {
	c := jwt.NewUserClaims(key)
	c.Name = u.Name
	c.Tags = jwt.TagList{tagKind + string(u.Kind)}
	if u.Role != "" {
		c.Tags = append(c.Tags, tagRole+string(u.Role))
	}
	for _, label := range u.Labels {
		c.Tags = append(c.Tags, tagLabel+label)
	}
	u.setPermissions(&c.Permissions)
	return c
}

// setPermissions sets everything the user may publish and subscribe to.
func (u User) setPermissions(p *jwt.Permissions) {
	inbox := Inbox(u.Kind, u.Name) + ".>"
	switch u.Kind {
	case KindHub:
		p.Pub.Allow.Add(">")
		p.Sub.Allow.Add(">")
	case KindOwner:
		p.Pub.Allow.Add(HubSubject(u.Name, ">"))
		p.Sub.Allow.Add(inbox)
	case KindJoiner:
		p.Pub.Allow.Add(JoinSubject)
		p.Sub.Allow.Add(inbox)
	case KindMachine:
		p.Pub.Allow.Add("$KV."+HostsBucket+"."+u.Name, "$KV."+ProcessesBucket+"."+u.Name+".*", downSubject(u.Name, "*", "*"))
		// The permission includes the queue: without it, every machine with the label would get
		// each request.
		p.Sub.Allow.Add(inbox, openSubject(u.Name, "*"), upSubject(u.Name, "*", "*"))
		for _, label := range u.Labels {
			p.Sub.Allow.Add(anySubject(label, "*") + " " + anyQueue)
		}
	case KindPerson:
		p.Pub.Allow.Add(openSubject("*", u.Name), upSubject("*", u.Name, "*"), anySubject("*", u.Name))
		for _, bucket := range []string{HostsBucket, ProcessesBucket} {
			p.Pub.Allow.Add("$JS.API.STREAM.INFO.KV_"+bucket, "$JS.API.CONSUMER.CREATE.KV_"+bucket+".>", "$JS.API.CONSUMER.DELETE.KV_"+bucket+".*", "$JS.FC.KV_"+bucket+".>")
		}
		if u.Role == api.RoleAdmin {
			p.Pub.Allow.Add(HubSubject(u.Name, ">"))
		}
		p.Sub.Allow.Add(inbox, downSubject("*", u.Name, "*"))
	}
}

// anyQueue is the queue group of the machines with one label.
const anyQueue = "any"

// Issue returns the JWT of a user with a public key, signed by account.
func Issue(account nkeys.KeyPair, u User, key string) (string, error) {
	if !nkeys.IsValidPublicUserKey(key) {
		return "", errors.New("issue JWT: not a user's key")
	}
	return u.claims(key).Encode(account)
}

// IssueJoiner returns the JWT for redeeming an invitation. It works without a private key.
func IssueJoiner(account nkeys.KeyPair, key string) (string, error) {
	c := User{Kind: KindJoiner, Name: JoinerName}.claims(key)
	c.BearerToken = true
	c.Limits.Subs, c.Limits.Payload = 2, 4<<10
	return c.Encode(account)
}
