package secrets

// The rules are data: a name, a flag, a form or an argument of a program that holds a secret.
// TestEveryRuleHasAnExample has a line for each.

// secretParts mark the name of a secret anywhere in it, secretWords only as a whole word between
// underscores, hyphens or dots.
var (
	secretParts = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PASSCODE", "CREDENTIAL"}
	secretWords = []string{"PASS", "PWD", "PW", "AUTH", "AUTHORIZATION", "COOKIE", "BEARER", "JWT", "PAT", "OTP", "CREDS", "SIG"}
)

// nameHints are contained in every name accepted by IsSecretName, in lower case.
var nameHints = []string{"key", "token", "secret", "pass", "credential", "pwd", "pw", "auth", "cookie", "bearer", "jwt", "pat", "otp", "creds", "sig"}

// secretFlags matches the end of a flag whose value is a secret. Any other words of the flag's name
// stand before it, followed by a hyphen or an underscore.
const secretFlags = `password|passwd|passphrase|passcode|pass|pwd|token|secret|secret-string|api-?key|access-?key|secret-?key|` +
	`private-?key|auth-?key|account-?key|(?:src|dest)?(?:store|key)pass|pat|otp|jwt|credentials?|bearer|plaintext`

// A keyForm is the form of the keys that a service issues.
type keyForm struct {
	hint string // in every such key, in lower case
	re   string
}

var keyForms = []keyForm{
	{"pat", `pat[0-9A-Za-z]{14}\.[0-9a-f]{64}`}, // Airtable
	{"p8e-", `p8e-[0-9a-zA-Z]{32}`},             // Adobe
	{"age-secret-", `AGE-SECRET-KEY-1[0-9A-Z]{20,}`},
	{"ltai", `LTAI[0-9a-zA-Z]{16,}`}, // Alibaba
	{"akcp", `AKCp[0-9A-Za-z]{60,}`}, // Artifactory
	{"cmvmd", `cmVmd[0-9A-Za-z]{59}`},
	{"atatt3", `ATATT3[0-9A-Za-z_=-]{50,}`},                                                                                // Atlassian
	{"q~", `[0-9A-Za-z_~.]{3}\dQ~[0-9A-Za-z_~.-]{31,34}`},                                                                  // Azure AD
	{"akia", `AKIA[0-9A-Z]{16}`}, {"asia", `ASIA[0-9A-Z]{16}`}, {"abia", `ABIA[0-9A-Z]{16}`}, {"acca", `ACCA[0-9A-Z]{16}`}, // AWS
	{"a3t", `A3T[0-9A-Z]{17}`}, {"absk", `ABSK[0-9A-Za-z+/]{100,}=*`},
	{"clojars_", `CLOJARS_[0-9A-Za-z]{40,}`},
	{"4b1d", `4b1d[0-9A-Za-z]{38}`},                                // ClickHouse Cloud
	{"v1.0-", `v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}`},                 // Cloudflare origin CA
	{"dapi", `dapi[0-9a-f]{32}(?:-\d)?`},                           // Databricks
	{"dnkey-", `dnkey-[0-9A-Za-z=_-]{20,}`},                        // Defined Networking
	{"_v1_", `do[opr]_v1_[0-9a-f]{32,}`},                           // DigitalOcean
	{"dckr_", `dckr_[op]at_[0-9A-Za-z_-]{20,}`},                    // Docker Hub
	{"dp.", `dp\.(?:pt|st|ct|sa|scim|audit)\.[0-9A-Za-z._-]{40,}`}, // Doppler
	{"duffel_", `duffel_(?:test|live)_[0-9A-Za-z_=-]{40,}`},
	{"dt0c01.", `dt0c01\.[0-9A-Z]{24}\.[0-9A-Z]{64}`},                // Dynatrace
	{"ezak", `EZAK[0-9a-zA-Z]{54}`}, {"eztk", `EZTK[0-9a-zA-Z]{54}`}, // EasyPost
	{"eaa", `EAA[0-9A-Za-z]{60,}`}, // Facebook, Square
	{"figd_", `figd_[0-9A-Za-z_-]{20,}`},
	{"flw", `FLW(?:PUBK|SECK)_TEST-[0-9a-zA-Z-]{12,}`},                              // Flutterwave
	{"fm", `fm[12][ar]?_[0-9A-Za-z+/=_-]{40,}`}, {"fo1_", `fo1_[0-9A-Za-z_-]{40,}`}, // Fly.io
	{"fio-u-", `fio-u-[0-9A-Za-z_=-]{40,}`},                                                                             // Frame.io
	{"aiza", `AIza[0-9A-Za-z_-]{30,}`}, {"ya29.", `ya29\.[0-9A-Za-z_-]{16,}`}, {"gocspx-", `GOCSPX-[0-9A-Za-z_-]{20,}`}, // Google
	{"gh", `gh[pousr]_[0-9A-Za-z]{16,}`}, {"github_pat_", `github_pat_[0-9A-Za-z_]{16,}`},
	{"gl", `gl(?:pat|cbt|dt|ft|ffct|imt|agent|oas|ptt|rt|soat)-[0-9A-Za-z_.=-]{16,}`}, {"gr1348941", `GR1348941[0-9A-Za-z_-]{20}`}, // GitLab
	{"live_", `live_[0-9A-Za-z_=-]{40,}`},                                                  // GoCardless
	{"glc_", `glc_[0-9A-Za-z+/]{32,}=*`}, {"glsa_", `glsa_[0-9A-Za-z]{32}_[0-9A-Fa-f]{8}`}, // Grafana
	{"gsk_", `gsk_[0-9A-Za-z]{40,}`},                                        // Groq
	{"at.", `[ps]at\.[0-9A-Za-z_-]{22}\.[0-9a-f]{24}\.[0-9A-Za-z]{20}`},     // Harness
	{".atlasv1.", `[0-9A-Za-z]{14}\.atlasv1\.[0-9A-Za-z_=-]{60,}`},          // Terraform Cloud
	{"hrku-", `HRKU-[0-9A-Za-z_-]{36,}`},                                    // Heroku
	{"hf_", `hf_[0-9A-Za-z]{20,}`}, {"api_org_", `api_org_[0-9A-Za-z]{34}`}, // huggingface.co
	{"ico-", `ico-[0-9A-Za-z]{32}`},                                         // Infracost
	{"s-s4t2", `s-s4t2(?:ud|af)-[0-9a-f]{64}`},                              // Intra42
	{"eyj", `eyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(?:\.[0-9A-Za-z_-]*)?`}, // JSON Web Tokens
	{"eyjrijoi", `eyJrIjoi[0-9A-Za-z]{60,}=*`},                              // Grafana, before release 9
	{"lin_", `lin_(?:api|oauth)_[0-9A-Za-z]{32,}`},                          // Linear
	{"key-", `(?:pub)?key-[0-9a-f]{32}`},                                    // Mailgun
	{"-us", `[0-9a-f]{32}-us\d{1,2}`},                                       // Mailchimp
	{"_mmk", `[0-9A-Za-z]{6}_[0-9A-Za-z]{29}_mmk`},                          // MaxMind
	{"nfp_", `nfp_[0-9A-Za-z]{30,}`},                                        // Netlify
	{"nr", `NR(?:AK|JS|II|BR|RA)-[0-9A-Za-z_-]{19,}`},                       // New Relic
	{"ntn_", `ntn_[0-9A-Za-z]{40,}`},                                        // Notion
	{"npm_", `npm_[0-9A-Za-z]{30,}`}, {"oy2", `oy2[a-z0-9]{43}`},            // npm, NuGet
	{"api-", `API-[0-9A-Z]{26}`},                                                                                   // Octopus Deploy
	{"sha256~", `sha256~[0-9A-Za-z_-]{43}`},                                                                        // OpenShift
	{"ops_eyj", `ops_eyJ[0-9A-Za-z+/_-]{100,}=*`}, {"a3-", `A3-[0-9A-Z]{6}-[0-9A-Z]{6,11}(?:-[0-9A-Z]{5,6}){3,5}`}, // 1Password
	{"pcsk_", `pcsk_[0-9A-Za-z_]{40,}`}, {"pplx-", `pplx-[0-9A-Za-z]{40,}`}, // Pinecone, Perplexity
	{"pscale_", `pscale_(?:tkn|oauth|pw)_[0-9A-Za-z_=.-]{32,}`},                  // PlanetScale
	{"pmak-", `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`}, {"pnu_", `pnu_[0-9A-Za-z]{36}`}, // Postman, Prefect
	{"pul-", `pul-[0-9a-f]{40}`}, {"pypi-", `pypi-[0-9A-Za-z_-]{30,}`}, // Pulumi, PyPI
	{"rdme_", `rdme_[0-9a-z]{60,}`}, {"re_", `re_[0-9A-Za-z]{8}_[0-9A-Za-z]{20,}`}, // ReadMe, Resend
	{"r8_", `r8_[0-9A-Za-z]{37}`}, {"rubygems_", `rubygems_[0-9a-f]{48}`}, // Replicate, RubyGems
	{"tk-us-", `tk-us-[0-9A-Za-z_-]{48}`},                                                                       // Scalingo
	{"sg.", `SG\.[0-9A-Za-z_-]{16,}\.[0-9A-Za-z_-]{16,}`}, {"xkeysib-", `xkeysib-[0-9a-f]{64}-[0-9A-Za-z]{16}`}, // SendGrid, Brevo
	{"sntry", `sntry[su]_[0-9A-Za-z+/=_-]{40,}`},                                                       // Sentry
	{"sm_", `sm_(?:pat|aat|sat)_[0-9A-Za-z]{16}`},                                                      // SettleMint
	{"shippo_", `shippo_(?:live|test)_[0-9A-Fa-f]{40}`}, {"shp", `shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}`}, // Shippo, Shopify
	{"sk-", `sk-[0-9A-Za-z_-]{16,}`},                                                                                                                                         // OpenAI, Anthropic
	{"k_live_", `[sr]k_live_[0-9A-Za-z]{10,}`}, {"k_test_", `[sr]k_test_[0-9A-Za-z]{10,}`}, {"k_prod_", `[sr]k_prod_[0-9A-Za-z]{10,}`}, {"whsec_", `whsec_[0-9A-Za-z]{16,}`}, // Stripe
	{"xox", `xox[abeoprs](?:\.xox[bp])?-[0-9A-Za-z-]{10,}`}, {"xapp-", `xapp-[0-9A-Za-z-]{10,}`}, {"xwfp-", `xwfp-[0-9A-Za-z-]{10,}`}, // Slack
	{"hooks.slack.com/", `hooks\.slack\.com/(?:services|workflows|triggers)/[0-9A-Za-z/+]{20,}`},
	{"discord", `discord(?:app)?\.com/api/webhooks/\d+/[0-9A-Za-z_-]{20,}`}, {"webhook.office.com/", `webhook\.office\.com/webhookb2/[0-9A-Za-z@/-]{40,}`},
	{"sq", `sq[upa]_[0-9a-f]{40}`}, {"sgp_", `sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}`}, {"sq0", `sq0(?:atp|csp)-[0-9A-Za-z_-]{22,}`}, // SonarQube, Sourcegraph, Square
	{"sbp_", `sbp_[0-9a-f]{40}`}, {"tskey-", `tskey-[0-9A-Za-z-]{16,}`}, // Supabase, Tailscale
	{":a", `\d{5,16}:A[0-9A-Za-z_-]{34}`},                          // Telegram
	{"sk", `SK[0-9a-f]{32}`}, {"tfp_", `tfp_[0-9A-Za-z_.=-]{40,}`}, // Twilio, Typeform
	{"hv", `hv[sbr]\.[0-9A-Za-z_-]{20,}`}, {"s.", `s\.[0-9A-Za-z]{24}`}, // Vault
	{"xai-", `xai-[0-9A-Za-z]{40,}`},
	{"aqvn", `AQVN[0-9A-Za-z_-]{35,38}`}, {"t1.", `t1\.[0-9A-Za-z_-]+=*\.[0-9A-Za-z_-]{86}=*`}, {"yc", `YC[0-9A-Za-z_-]{38}`}, // Yandex
}

// A ruleKind says what the arguments of a rule match.
type ruleKind int

const (
	single  ruleKind = iota // one secret
	several                 // each of several secrets, after a blank
	named                   // a name that must suggest a secret, and its value
)

// A programRule finds a secret in the arguments of a program. The last capturing group of args
// matches the secret.
type programRule struct {
	hint string // in the program's name, or in its arguments
	name string // of the program
	args string
	kind ruleKind
}

// echoed matches text that a shell prints into the next command of a pipe.
const echoed = `(?:echo|printf)\s+(?:-[neE]+\s+|['"]?%s(?:\\n)?['"]?\s+)?(` + wordValue + `(?:[ \t]+` + wordValue + `)*)\s*\|\s*(?:\S*/)?`

var programRules = []programRule{
	// Our own.
	{"tandem", `tandem`, options + `join\s+(?:-\S+\s+)*(` + nonFlagValue + `)`, single},
	{"tandem", `tandem`, options + `env\s+set\s+([0-9A-Za-z_.-]+)\s+(` + wordValue + `)`, named},

	{"openssl", `openssl`, options + `-(?:[kK]|hmac)\s+(` + wordValue + `)`, single},
	{"openssl", `openssl\s+passwd`, options + `(` + nonFlagValue + `)\s*(?:$|[;&|)\n])`, single},
	{"mc", `mc(?:li)?`, options + `(?:alias\s+(?:set|s)|config\s+host\s+(?:add|a))` + options + `\S*://\S*\s+` + wordValue + `\s+(` + wordValue + `)`, single},
	{"curl", `curl`, options + `(?:-[A-Za-z]*u\s*|--(?:proxy-)?user[\s=]+)["']?[^\s"':]+:([^\s"']+)`, single},
	{"curl", `curl`, options + `(?:-[A-Za-z]*b\s*|--cookie[\s=]+)("[^"=]*=[^"]*"|'[^'=]*=[^']*'|[^\s"'=]+=[^\s"';&|]+)`, single},
	{"http", `https?`, options + `(?:-a\s*|--auth[\s=]+)["']?[^\s"':]+:([^\s"']+)`, single},
	{"creds", `(?:skopeo|podman|buildah)`, `\s--(?:src-|dest-)?creds[\s=]+["']?[^\s"':]+:([^\s"']+)`, several},
	{"etcdctl", `etcdctl`, options + `--user[\s=]+["']?[^\s"':]+:([^\s"']+)`, single},
	{"sshpass", `sshpass`, `\s+(?:-v\s+)?-p\s*(` + wordValue + `)`, single},
	{"ssh-keygen", `ssh-keygen`, `\s-[NP]\s*(` + nonFlagValue + `)`, several},
	{"zip", `(?:un)?zip`, options + `-P\s*(` + nonFlagValue + `)`, single},
	{"7z", `7z[azr]*`, options + `-p(` + wordValue + `)`, single},
	{"rar", `(?:un)?rar`, options + `-h?p(` + wordValue + `)`, single},
	{"mysqladmin", `mysqladmin`, options + `password\s+(` + nonFlagValue + `)`, single},
	{"mysql", `mysql[a-z_-]*`, options + `-p(` + wordValue + `)`, single},
	{"mariadb", `mariadb[a-z_-]*`, options + `-p(` + wordValue + `)`, single},
	{"mongo", `mongo[a-z]*`, options + `-p\s*(` + nonFlagValue + `)`, single},
	{"redis-cli", `redis-cli`, options + `(?:-a|(?i:auth))\s+(` + nonFlagValue + `)`, single},
	{"sql", `(?:sqlcmd|bcp)`, options + `-P\s*(` + nonFlagValue + `)`, single},
	{"sqlplus", `sqlplus`, options + `[^\s"'/-]+/([^\s"'@]+)@`, single},
	{"cqlsh", `cqlsh`, options + `-p\s*(` + nonFlagValue + `)`, single},
	{"ldap", `ldap[a-z]+`, options + `-w\s*(` + nonFlagValue + `)`, single},
	{"mosquitto", `mosquitto_[a-z]+`, options + `-P\s*(` + nonFlagValue + `)`, single},
	{"ipmitool", `ipmitool`, options + `-P\s*(` + nonFlagValue + `)`, single},
	{"snmp", `snmp[a-z]+`, `\s-[AXc]\s*(` + nonFlagValue + `)`, several},
	{"rabbitmqctl", `rabbitmqctl`, options + `(?:add_user|change_password)\s+\S+\s+(` + nonFlagValue + `)`, single},
	{"smbclient", `smbclient`, options + `-U\s*["']?[^\s"'%]+%([^\s"']+)`, single},
	{"freerdp", `[xw]lfreerdp|xfreerdp`, options + `/p:(` + wordValue + `)`, single},
	{"nmcli", `nmcli`, options + `password\s+(` + nonFlagValue + `)`, single},
	{"wpa_passphrase", `wpa_passphrase`, `\s+` + wordValue + `\s+(` + wordValue + `)`, single},
	{"lftp", `lftp`, options + `-u\s*["']?[^\s"',]+,([^\s"']+)`, single},
	{"login", `(?:docker|podman|nerdctl|buildah|skopeo|helm|oc|cf|az|ibmcloud)`, options + `login` + options + `-p[\s=]*(` + nonFlagValue + `)`, single},
	{"cf", `cf`, options + `auth\s+\S+\s+(` + nonFlagValue + `)`, single},
	{"twine", `twine`, options + `-p\s*(` + nonFlagValue + `)`, single},
	{"restic", `restic`, options + `-p\s+([^\s/"';&|()<>-][^\s/"';&|()<>]*)(?:\s|$)`, single}, // a file in a folder is no password
	{"htpasswd", `htpasswd`, options + `-[A-Za-z]*b[A-Za-z]*` + options + `(` + wordValue + `)(?:\s+\d?[<>|;&)]|\s*$|[;&|)\n])`, single},
	{"vault", `vault`, options + `login\s+(?:-\S+\s+)*([^\s"'=;&|()<>-][^\s"'=;&|()<>]*)(?:\s|$)`, single},
	{"gh", `gh`, options + `secret\s+set` + options + `(?:-b|--body)[\s=]*(` + nonFlagValue + `)`, single},
	{"secrets", `(?:fly(?:ctl)?|doppler|supabase)` + options + `secrets\s+(?:set|import)`, `\s["']?[A-Za-z_]\w*=(` + wordValue + `)`, several},
	{"config", `(?:npm|pnpm|yarn)`, options + `config\s+set` + options + `(\S*[A-Za-z])[\s=]+(` + nonFlagValue + `)`, named},
	{"pulumi", `pulumi`, options + `config\s+set` + options + `--secret\s+\S+\s+(` + nonFlagValue + `)`, single},
	{"auth", `(?:ngrok|snyk)`, options + `(?:config\s+add-)?auth(?:token)?\s+(` + nonFlagValue + `)`, single},
	{"wandb", `wandb`, options + `login\s+(?:-\S+\s+)*(` + nonFlagValue + `)`, single},
	{"doctl", `doctl`, options + `-t\s+(` + nonFlagValue + `)`, single},
	{"rclone", `rclone`, options + `obscure\s+(` + nonFlagValue + `)`, single},
	{"aws", `aws`, options + `configure\s+set\s+([0-9A-Za-z_.-]+)\s+(` + wordValue + `)`, named},
	{"sudo", `sudo`, options + `(?:-[A-Za-z]*S[A-Za-z]*|--stdin)\s[^|;&\n]*<<<\s*(` + wordValue + `)`, single},
	{"stdin", `(?:docker|podman|helm|passwd)`, options + `--(?:password-)?stdin[^|;&\n]*<<<\s*(` + wordValue + `)`, single},
	{"sudo", ``, echoed + `sudo` + options + `(?:-[A-Za-z]*S|--stdin)`, single},
	{"stdin", ``, echoed + `(?:docker|podman|nerdctl|helm|passwd)` + options + `--(?:password-)?stdin`, single},
	{"chpasswd", ``, echoed + `(?:sudo\s+)?chpasswd`, single},
	{"--with-token", ``, echoed + `gh` + options + `--with-token`, single},
}
