package signing

// workedCases were worked out by hand from the specification's section "Authentication" and the accepted variations: each
// canonical request and string to sign is written out, and the hashes and signatures come from another implementation of
// SHA-256 and HMAC. The key is shop-1, the secret not-a-real-secret, the region eu, the clock 2026-03-01T12:00:00Z.
var workedCases = []workedCase{
	{
		name:   "query: none",
		method: "GET", target: "/v1/customers", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"602e1dc3512c9daf8d24473106850b51ad451a9ea19d45b74e85f5c1fde08707",
		signature: "86a1645c57cf1e8b79ee4e69410e17d2df17441b0210a11e0c5471d75a731f09",
	},
	{
		name:   "query: one",
		method: "GET", target: "/v1/customers?limit=10", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"limit=10\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"246eef7aeea22815d456445b25250a4f872142a5bee1222f91e8046f5d752869",
		signature: "07d18a8bf3cfbdd8b9f0db33f7c3b5ce657e6d0994a29f8505d978b618d21de9",
	},
	{
		name:   "query: sorted by name",
		method: "GET", target: "/v1/customers?b=2&a=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=1&b=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"60cf312a3abc0f39537fcc637b0f5e41620880a763adab05bd45f79678689c91",
		signature: "07da6f01d5192c8bbcff673026c6b70101ed1d267b40281e6b60f92a9e300a6c",
	},
	{
		name:   "query: name continues another, by name",
		method: "GET", target: "/v1/customers?limit.eq=5&limit=10", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"limit=10&limit.eq=5\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"2d3b06b23fb689a9f152b15f8a8da3bd9746b0fe80c1efad3d07e47b1b3e91a3",
		signature: "d3ff5d527215029174dcea0d0664be7f67d56144f708fdd7cddeae4c88b7baeb",
	},
	{
		name:   "query: name continues another, by pair",
		method: "GET", target: "/v1/customers?limit=10&limit.eq=5", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"limit.eq=5&limit=10\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"ab86d8b02e9807aad665d8e49d58ace99dbfbbf2e9cff1714f987b238d12fa2f",
		signature: "7599d10d5ad3d37b8021bb8bca8da539c272b2bee719342206b0689dd974c333",
	},
	{
		name:   "query: bracket beside digit, by name",
		method: "GET", target: "/v1/customers?a%5Bb%5D=1&a1=2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a1=2&a%5Bb%5D=1\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"3613e0f0eb78b28a61c46c10b1e4b871de66a8675804c2078b5a3fb723a68dc8",
		signature: "d37c2df188becc0d2e72dc8fe9b8cad081aaaea1d7aba99e1df4dde874740233",
	},
	{
		name:   "query: bracket beside digit, by encoded name",
		method: "GET", target: "/v1/customers?a1=2&a%5Bb%5D=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a%5Bb%5D=1&a1=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"50269dd54d0f6b2679bfcbdbd1eda2b82f657c06da7fe1c03b6d3ff47a939ba1",
		signature: "77cb5c2f44a9fb7b9836421e36c0594b4317bc364bc097a2f0602b98ebdd9b1e",
	},
	{
		name:   "query: bracket beside longer name, by name",
		method: "GET", target: "/v1/customers?a%5Bb%5D=1&a=2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=2&a%5Bb%5D=1\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"a6ee46586427e0043c2c32bfbfdc8c0bd9346b50b0c1d2a1646c85f14b7705b8",
		signature: "b69793a229dd963b74da9f1c9de83268f9f8145c4d5956e96e6ce4d920e42ac5",
	},
	{
		name:   "query: bracket beside longer name, by pair",
		method: "GET", target: "/v1/customers?a=2&a%5Bb%5D=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a%5Bb%5D=1&a=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"fcb44fa6e5b8df2c4d2c43aa0a4e5f9bf5e67ca1c54576790638753b0a67f4ea",
		signature: "8573ebde6a50e957fd9ba3665c2ca854684a95b26e72d64a19fbd828a4f90335",
	},
	{
		name:   "query: filter brackets as sent",
		method: "GET", target: "/v1/customers?filter[status][eq]=active", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"filter%5Bstatus%5D%5Beq%5D=active\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"a44b81b8ab69b8021d2e39c98a400fd639f7bb02c553673a097bcd7ab53001c5",
		signature: "d505a42ca1d8d908522c63491f68a129b0590755ccf0b05f17b16259c17c0b19",
	},
	{
		name:   "query: equal names by value",
		method: "GET", target: "/v1/customers?a=2&a=1&a=10", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=1&a=10&a=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"4dd45af922ce33bcf5ab0a6925f990864ab09aed063537942408a6ed30c3f730",
		signature: "0ffcc70859e8a959fd536a80790a5ac77137d92b94a6ddebfd90636fd179ce33",
	},
	{
		name:   "query: equal names, values decoded as JavaScript sorts them",
		method: "GET", target: "/v1/customers?a=%C3%A9&a=~", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=~&a=%C3%A9\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"181e3f39f231b21dbad01808744953d184140a66e7047205346a6d814cb44f22",
		signature: "ca45e06d2eed1c8651c20d1118bcc1bb7109639ff3fb8de229bf485218810f32",
	},
	{
		name:   "query: equal names, values encoded",
		method: "GET", target: "/v1/customers?a=~&a=%C3%A9", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=%C3%A9&a=~\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"24057cb35e61e2d15b62799ef1ea64da36e2f39e64058558bf6dfcc4aa448c13",
		signature: "293e4d07da25668bbf090175d4cf6891628de9245224e6ec15d9ca0b3ca04641",
	},
	{
		name:   "query: equal names, JavaScript, beside a longer name",
		method: "GET", target: "/v1/customers?a=%C3%A9&a=~&a.b=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a.b=1&a=~&a=%C3%A9\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"18b8a047d2666232571bfbfd555a4faf059086785954f5aa71b992eaa99ed774",
		signature: "0d5b9bbce0656ae5a3babdcd99ef31961967098d0a8454e1b55ed31497c4a239",
	},
	{
		name:   "query: equal names by UTF-16 unit as JavaScript sorts them",
		method: "GET", target: "/v1/customers?a=%EF%BC%81&a=%F0%9F%98%80", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=%F0%9F%98%80&a=%EF%BC%81\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"9a81ca3343ce7fdbca25b1225ea598382a10950d803f276247ed8c755330feb9",
		signature: "141891149d0b5030cc5343ad7d7054b4e10e2d0ea1eaaac21cce30b93fd3ae32",
	},
	{
		name:   "query: three names, by name",
		method: "GET", target: "/v1/customers?a[b]=1&a1=2&a=3", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=3&a1=2&a%5Bb%5D=1\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"8ec0a0cdcf530c83d4da5feea481ddcc56be84bed9cec8185227df3a98e893f5",
		signature: "88f874c9dd16a210fae4c9f282a6e9c2e05d74b6f5105e84649729ed995d7b9a",
	},
	{
		name:   "query: three names, by pair",
		method: "GET", target: "/v1/customers?a[b]=1&a1=2&a=3", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a%5Bb%5D=1&a1=2&a=3\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"879947570136cef186180681de8bf0906a618e8590e139e17cd24e3fcad7cb1c",
		signature: "f420c5d52a8e88a83cc1d3d469ed7b12602eb20c89942839a573ac8dedb5ef03",
	},
	{
		name:   "query: three names, by encoded name",
		method: "GET", target: "/v1/customers?a[b]=1&a1=2&a=3", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=3&a%5Bb%5D=1&a1=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f2bfe169569f73cd1c63a649d69216603ad388f43864643e610a1d283227f325",
		signature: "5c6df941d7daaa028e853c211b250cc8115cebd0d98e0c3b3b3cf74bbe99ddc1",
	},
	{
		name:   "query: equal names by encoded pair, beside a longer name",
		method: "GET", target: "/v1/customers?a=~&a=%C3%A9&a.b=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a.b=1&a=%C3%A9&a=~\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"3d2aa8f1167f42e417b4366e5e5e355df8839816e57a18d2cc99ae93eb344259",
		signature: "3cae333eff3654ed9bf71cf4d0826b9f85b7068df7590ba008fb99241b0ee344",
	},
	{
		name:   "query: exclamation and asterisk encoded",
		method: "GET", target: "/v1/customers?q=a!b*", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"q=a%21b%2A\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"ee261afb8fde1b6244f85822bc8fa91febd7a0d7d95e8e08f3cdf86fd344b32b",
		signature: "54504b3c10e82184ebf74678aaa11b5218bbef3bf281745d588a8cec907617a1",
	},
	{
		name:   "query: exclamation and asterisk literal",
		method: "GET", target: "/v1/customers?q=a!b*", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"q=a!b*\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"9ebafb7298b04c53b9ac6a6440235f2a0d27effb3544d16f39a6b63f0d996da0",
		signature: "41292fa030648287153457878e59945d990b468d210142f5c756f5271326e176",
	},
	{
		name:   "query: exclamation sent encoded, signed literal",
		method: "GET", target: "/v1/customers?q=%21%2a", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"q=!*\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"01aaf61ffe23e981e236338384f279bba9da556d74269e13fd08a855baafd0e4",
		signature: "cacd888556823e3d0f7b12f8ccf551022ded4e4e4481ff73915db753108b1d25",
	},
	{
		name:   "query: apostrophe and parentheses",
		method: "GET", target: "/v1/customers?q='(x)'", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"q=%27%28x%29%27\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"a7dee6982ff480df7143d61bf89930685a48cdd9b50c5579f3df4f1d492fdbec",
		signature: "08ec6575cea12317f87605ea6f508635f8c96fc1181f84f28d23dce1a8f66256",
	},
	{
		name:   "query: plus is a blank",
		method: "GET", target: "/v1/customers?q=a+b", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"q=a%20b\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"168bead8fc8ef036e01bf6f9a44046b2866d3cd64ff42aee918f886bc7294407",
		signature: "8282537c3b92855ebfb22a6694ef6c3daaef1b1c93ea495512be3b97839020cf",
	},
	{
		name:   "query: %20 is a blank",
		method: "GET", target: "/v1/customers?q=a%20b", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"q=a%20b\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"168bead8fc8ef036e01bf6f9a44046b2866d3cd64ff42aee918f886bc7294407",
		signature: "8282537c3b92855ebfb22a6694ef6c3daaef1b1c93ea495512be3b97839020cf",
	},
	{
		name:   "query: %2B is a plus",
		method: "GET", target: "/v1/customers?email=a%2Bb@example.com", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"email=a%2Bb%40example.com\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"bcb7176c2f6644bb9811910c01502c2ff8c893ffb6905ec5c2d74e3482a78082",
		signature: "2ed2800cfdc3de724917581530322d4044a96b90991e7b90f340a3d4f6d8b103",
	},
	{
		name:   "query: %2B signed as a blank by an old client",
		method: "GET", target: "/v1/customers?email=a%2Bb", host: "api.example.com", date: "20260301T120000Z",
		length:     -1,
		legacyPlus: true,
		signed:     "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"email=a%20b\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"230e82b9a0ca3f00c0d2eaaa72c7bb1da1511ac1ab922bb9828555403ce16ac2",
		signature: "7bc8404b1afc13607c2e7454bff3ba7ba5d0f2217bfb321bf1689dcde277395c",
	},
	{
		name:   "query: empty value",
		method: "GET", target: "/v1/customers?a=", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"63bbfd470f95a4c8153ff4f55167a95095360c745092749aecaad477eb5221ac",
		signature: "480eb223e8115a140a5f01d9f2a1e3bea8ae856e64b0a5e19bfd2b74760c7043",
	},
	{
		name:   "query: bare name",
		method: "GET", target: "/v1/customers?a", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"63bbfd470f95a4c8153ff4f55167a95095360c745092749aecaad477eb5221ac",
		signature: "480eb223e8115a140a5f01d9f2a1e3bea8ae856e64b0a5e19bfd2b74760c7043",
	},
	{
		name:   "query: empty name",
		method: "GET", target: "/v1/customers?=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"=1\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"54ebb3b4e54149f532b5f2f69d6577704773d9d7f74029488794f1b01b046e92",
		signature: "962e76fb20b22a2f5b59ffc9c305109512268c4c0fecaf4eea35e41f8c87fc36",
	},
	{
		name:   "query: question mark alone",
		method: "GET", target: "/v1/customers?", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"602e1dc3512c9daf8d24473106850b51ad451a9ea19d45b74e85f5c1fde08707",
		signature: "86a1645c57cf1e8b79ee4e69410e17d2df17441b0210a11e0c5471d75a731f09",
	},
	{
		name:   "query: question mark alone, signed as a pair",
		method: "GET", target: "/v1/customers?", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"=\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"9b32b0a8080d281b14e57883fd5d768d7b377d5e37cb0dcd4d716a65c2c7ddd9",
		signature: "a499ea0e63974a9c10e4119d42c2393ff2a6bd26e3063b04f1f4c179619c615a",
	},
	{
		name:   "query: nothing between ampersands, dropped",
		method: "GET", target: "/v1/customers?a=1&&b=2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=1&b=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"60cf312a3abc0f39537fcc637b0f5e41620880a763adab05bd45f79678689c91",
		signature: "07da6f01d5192c8bbcff673026c6b70101ed1d267b40281e6b60f92a9e300a6c",
	},
	{
		name:   "query: nothing between ampersands, a pair",
		method: "GET", target: "/v1/customers?a=1&&b=2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"=&a=1&b=2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"26152c9acc817182fdba557776989e6e8c1178bc66ad12c4c5719ef44390afb7",
		signature: "4b9a48d005bd22e4ebd6fa95254880c6d152d2d5a3b954a9f51de42261539c66",
	},
	{
		name:   "query: semicolon is data",
		method: "GET", target: "/v1/customers?a=1;b=2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=1%3Bb%3D2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"eb5b844f7078147172a51be1e7b871ac2a052c182ce13083edaf7fe40263c03d",
		signature: "996176d19740243d0ce39ca37f94235ad6ed61611c9c010077b2b5827dc5b40e",
	},
	{
		name:   "query: second equals sign is data",
		method: "GET", target: "/v1/customers?a=b=c", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=b%3Dc\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"dd562fa509b09c93508eb62a7d8475ac20f6a2e720faa25cf327b1d597a275d8",
		signature: "0e8ca468c6b827913aeeafa8d83dbeb2b5d3abed91939f1c32a3f1c654eae9ac",
	},
	{
		name:   "query: comma",
		method: "GET", target: "/v1/customers?a=1,2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=1%2C2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"a321e64cc2f65efda6c62b3fecd4737874fca8d9613590c46802e35406728681",
		signature: "7ca16efc4083f0a9f1db2a23f8e8ab1a43d2dbc2171120f6013a937181a3cb81",
	},
	{
		name:   "query: question mark is data",
		method: "GET", target: "/v1/customers?a=?", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=%3F\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"25119c539ba64a5ae3e26f8c10d06bd141d2b9179a2b9a1682bcc5e7b3b47349",
		signature: "c9390095137f5d52e662595a7e3194daf91a89b32875f3bfbf660ff9d3a6b516",
	},
	{
		name:   "query: octets that are no UTF-8",
		method: "GET", target: "/v1/customers?a=%ff%FE", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=%FF%FE\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"3287907e6df59e1a2ff11b04016ca6b5e8e8c6c002f8ebb1755080e4205c294d",
		signature: "a9acb670801c150aa509fdf5c539069b07459771b0d73cde20e729fbbc85463d",
	},
	{
		name:   "query: lower-case hex",
		method: "GET", target: "/v1/customers?a=%c3%a9", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=%C3%A9\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"83aaf6cdcfb76d4c1c65c5a1d5e85af7e05d91b8dae77c4d1a70f2077b63be1d",
		signature: "c2f3742ec0f6cb82527715e6a5a186dcadc66685a16d545873e9ccf5d51dde38",
	},
	{
		name:   "query: unreserved sent encoded",
		method: "GET", target: "/v1/customers?a=%7E%41", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"a=~A\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"cd9fcf519b12ff4410126249270c87d70f1c1edba1a3b6c7389dd1c093bf60be",
		signature: "64bd0663c2309ae9f553d60e7576fa1cfe3c8ec5c0adb17d76ea4b23627991cd",
	},
	{
		name:   "query: upper-case name before lower-case",
		method: "GET", target: "/v1/customers?b=1&B=2", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"B=2&b=1\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"d63d906f024f00dbaa9ba494dff9d8d3606fb152a66cdfacb9194dce4486ed03",
		signature: "b16b2f91b916b971f32484133723d2eae8eb7ebb1ab8c0310046402c39219ad4",
	},
	{
		name:   "path: root",
		method: "GET", target: "/", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f8477ef3e5697cf6f6487f9ecd6b218ca59909cb2bf72349b700c91e5bfa79a0",
		signature: "4e9d069c4a6a402f700bf2b342d76dcafc45be3dbb61ed76761c1303d655fe63",
	},
	{
		name:   "path: empty",
		method: "GET", target: "", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f8477ef3e5697cf6f6487f9ecd6b218ca59909cb2bf72349b700c91e5bfa79a0",
		signature: "4e9d069c4a6a402f700bf2b342d76dcafc45be3dbb61ed76761c1303d655fe63",
	},
	{
		name:   "path: trailing slash",
		method: "GET", target: "/v1/customers/", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers/\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"9938114a0f91c6469cc404104a41dc2f9ebf2ba6c6a5f957b8e03a3d6f6567f4",
		signature: "b661add9e792b5e30355137a3646aaf167ea92b922483ebaca1f6ced913f96bf",
	},
	{
		name:   "path: blank",
		method: "GET", target: "/customers/a%20b", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/a%20b\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"b0d2222478dce7345778a3a5cf332f41944353893e1137aa923f42d8ba3936cd",
		signature: "c85ef6e8131d166ba216d1ce662e576bcd8f9cc6ba4dd8fa888e1ed17ae31cd6",
	},
	{
		name:   "path: literal at and colon as sent",
		method: "GET", target: "/customers/shopify:7@x", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/shopify:7@x\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"14dd4f88834eca21526aac82edbc4e0dff305ceacdd00d1c09434fe354c88d81",
		signature: "1868ef3895987fbecbb9ec9715074e3c33a6474b1c1ef2770246c01427a3b00e",
	},
	{
		name:   "path: literal at and colon encoded",
		method: "GET", target: "/customers/shopify:7@x", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/shopify%3A7%40x\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"6f39b61cf81a16f1310930718db15e005d0f86acf3d8e55a67ea5bc42b7e712a",
		signature: "de67316bc3d5a66522aa0e15fa1a3eec78509d77cc1f3fe732129c0a14e0688f",
	},
	{
		name:   "path: encoded at as sent",
		method: "GET", target: "/customers/a%40b", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/a%40b\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"b7d05aceaf298285c6ad86c9625c82750a03ea67f5d939d442046ba66d37b3dc",
		signature: "c4e1dc1abc351d57d39a92f44e92750e25230f811e5846d47f3f7055cac7a4af",
	},
	{
		name:   "path: sub-delimiters as sent",
		method: "GET", target: "/a;b=c,d!e$f&g", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/a;b=c,d!e$f&g\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"75c66250346618c5964a6b2a5ad5174fbedf80e99281a462bb75ebc091aeb0ff",
		signature: "0caafac9d01bfc9c193a561fee8d699c89fcfd29d327a0bbed843fae08b9e876",
	},
	{
		name:   "path: sub-delimiters encoded",
		method: "GET", target: "/a;b=c,d!e$f&g", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/a%3Bb%3Dc%2Cd%21e%24f%26g\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"47810c49ce64ceb71620182399f4273d34414a97fda47eaa3c329b1f9e0c96ac",
		signature: "ef952a950ce8c9053709c7fc3760b0093df7872e119780c4937062f4c04d692d",
	},
	{
		name:   "path: lower-case hex as sent",
		method: "GET", target: "/customers/%c3%a9", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/%c3%a9\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"903bd53f50dbead540ea1b32f5316580d4bdc3649f0ddb9358b72c7b02db4377",
		signature: "ef618e1ad496f6a258fb5fb2cb45aa739491a78e6e0b35cfb18978845f3dc7a1",
	},
	{
		name:   "path: lower-case hex encoded anew",
		method: "GET", target: "/customers/%c3%a9", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/%C3%A9\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"a6f9e38e1f7fdd7d00e80a4ff2d8e42c13b0133a6f22e1370517d2c52bc9003f",
		signature: "c331bfc180c0e416007f3f08f29b9079e6f9e698ed430684a9c602609e87d8d3",
	},
	{
		name:   "path: unreserved sent encoded",
		method: "GET", target: "/%7euser", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/~user\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"dffae67be25d4df4540ab8f966c8e46d8a134a599b23e664a04b3fe1ee96a5ee",
		signature: "490318b49ec492b706a69db4b7a4fa9d5a272427ec433db9f43f768a6b084069",
	},
	{
		name:   "path: plus as sent",
		method: "GET", target: "/a+b", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/a+b\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"d870e95dd1637eadccfd3b1a0313a22c10b986917558d5d4c0ec5cc691e60182",
		signature: "26ff676d7acfcff9a56f5b603357e7e332d811124b8b686d4b28c746dfae8eb2",
	},
	{
		name:   "path: plus encoded, never a blank",
		method: "GET", target: "/a+b", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/a%2Bb\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"81ff0767f85e4f6174d0af9ff6531e0457438db145bd5cc90d8e59fc88f418fb",
		signature: "fb99050ea037413abd448278fd9ba2a5af291731ee389c077dd0d7fb69645cfd",
	},
	{
		name:   "path: encoded slash stays data",
		method: "GET", target: "/customers/a%2Fb", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/a%2Fb\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"b2d3179884988ec37dedffedb2834d477b6c743e6bc1f358ca682f7feab5b6d7",
		signature: "135a0ee261e7d865b5e814b197aeabce4a08af4556eb506eda7024bfa6ce8b50",
	},
	{
		name:   "path: encoded slash, lower-case hex",
		method: "GET", target: "/customers/a%2fb", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/customers/a%2Fb\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"b2d3179884988ec37dedffedb2834d477b6c743e6bc1f358ca682f7feab5b6d7",
		signature: "135a0ee261e7d865b5e814b197aeabce4a08af4556eb506eda7024bfa6ce8b50",
	},
	{
		name:   "path: encoded percent once",
		method: "GET", target: "/a%2541", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/a%2541\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"96362bb47cebe3e8dfba5937a3e30fee7c01f660af105cbab0f89a8c5d2e90f8",
		signature: "16092d009d755b7ea926a8a18177bec0725038c7778a845a3c4161501d453ca8",
	},
	{
		name:   "path: double slash cleaned",
		method: "GET", target: "/v1//customers", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"602e1dc3512c9daf8d24473106850b51ad451a9ea19d45b74e85f5c1fde08707",
		signature: "86a1645c57cf1e8b79ee4e69410e17d2df17441b0210a11e0c5471d75a731f09",
	},
	{
		name:   "path: double slash exactly as sent",
		method: "GET", target: "/v1//customers", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1//customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"bda27e9febfd3a2b426adf9ac2125998d7af06a638ea3d7335529ff2fbce1514",
		signature: "4f9fd467fa800fd3445e3fb500b31d2616ca18d69d1044d522661636786332e7",
	},
	{
		name:   "path: leading double slash cleaned",
		method: "GET", target: "//v1/customers//", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers/\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"9938114a0f91c6469cc404104a41dc2f9ebf2ba6c6a5f957b8e03a3d6f6567f4",
		signature: "b661add9e792b5e30355137a3646aaf167ea92b922483ebaca1f6ced913f96bf",
	},
	{
		name:   "path: dot cleaned",
		method: "GET", target: "/./v1/./customers/.", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers/\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"9938114a0f91c6469cc404104a41dc2f9ebf2ba6c6a5f957b8e03a3d6f6567f4",
		signature: "b661add9e792b5e30355137a3646aaf167ea92b922483ebaca1f6ced913f96bf",
	},
	{
		name:   "path: dots cleaned",
		method: "GET", target: "/v1/x/../customers", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"602e1dc3512c9daf8d24473106850b51ad451a9ea19d45b74e85f5c1fde08707",
		signature: "86a1645c57cf1e8b79ee4e69410e17d2df17441b0210a11e0c5471d75a731f09",
	},
	{
		name:   "path: dots above the root",
		method: "GET", target: "/../../v1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"433df32b8f8b8173fabbc9f9dd16b97f4127fa04dde905b46bb32c6161ecc388",
		signature: "b122737cb0aa76850569453d14d5cdf2132c023e05e1587813bc453ce4e3a43f",
	},
	{
		name:   "path: dots to the root",
		method: "GET", target: "/foo/bar/../..", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f8477ef3e5697cf6f6487f9ecd6b218ca59909cb2bf72349b700c91e5bfa79a0",
		signature: "4e9d069c4a6a402f700bf2b342d76dcafc45be3dbb61ed76761c1303d655fe63",
	},
	{
		name:   "path: dots exactly as sent",
		method: "GET", target: "/v1/x/../customers", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/x/../customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"8b7895a509227b0cca906405820e53ffbe86a326d04653fdc518b23458d1969b",
		signature: "96a9e7bc6e5107711b238c0f7a86c151b081057242e1c4d85398fa34b547fb36",
	},
	{
		name:   "path: dots in a name are a name",
		method: "GET", target: "/.well-known/a..b/...", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/.well-known/a..b/...\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"b405fde1a7573d488e80f566e604e582688e346194d3434cc7f6c8399792666a",
		signature: "c3160193b330fa90c1dcaecd03ab06afec49ad47c7e214d2ddcd709e566da003",
	},
	{
		name:   "path: absolute form",
		method: "GET", target: "http://api.example.com/v1/customers", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/v1/customers\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"602e1dc3512c9daf8d24473106850b51ad451a9ea19d45b74e85f5c1fde08707",
		signature: "86a1645c57cf1e8b79ee4e69410e17d2df17441b0210a11e0c5471d75a731f09",
	},
	{
		name:   "path: absolute form without path",
		method: "GET", target: "http://api.example.com?a=1", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/\n" +
			"a=1\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"d419f5b13e200b760ea23373fe9fd7fae8b20f7b831919382b6fc9fb617f688f",
		signature: "ef50e5b61d6f465020b40409241013ab1e65723276764c7eaf514127776314a7",
	},
	{
		name:   "header: content type",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"Content-Type", "application/json"}},
		length:  0,
		signed:  "content-type;date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"content-type:application/json\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"content-type;date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"8e4208ef000df0d71860291a9bb4da1347ee0c82793d9e121a13fbbd7d4cb547",
		signature: "3e4aee2a52ba4ed81b7abb66a99b0c42c4172e22fe677e26c2c966c668c02ccb",
	},
	{
		name:   "header: trimmed and collapsed",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-A", "  a   b  c "}},
		length:  0,
		signed:  "date;host;x-a",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-a:a b c\n" +
			"\n" +
			"date;host;x-a\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"ed8878c22f85ab6630b8264b2bc474d3310ce67d80f98d8ac3c5e07222eadc84",
		signature: "e85b18b161beebb50c23bbb427ae7bc57621e4e8069669980e58a8a39ada9894",
	},
	{
		name:   "header: blanks in quotes collapsed",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-A", "\"a   b\"  c"}},
		length:  0,
		signed:  "date;host;x-a",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-a:\"a b\" c\n" +
			"\n" +
			"date;host;x-a\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"7f80709d5390ea77ddfb3ecb0ace47af409bff19d005dc4e867aa0b24af8648b",
		signature: "c0288d59cc58e5eb396bb2b4eca48ac22c5dea76f20fc2c921a270954dbb69c8",
	},
	{
		name:   "header: blanks in quotes kept",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-A", "\"a   b\"  c"}},
		length:  0,
		signed:  "date;host;x-a",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-a:\"a   b\" c\n" +
			"\n" +
			"date;host;x-a\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"a85930f69353264d6f5ebf6418bc7207717c24d349ac0dc3631607fa5278b388",
		signature: "ab27e96eb462073f5e64ccff080aa212aac254889da3ba666f3c24a4daeaa3c9",
	},
	{
		name:   "header: repeated, in the order received",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-A", "b"}, {"X-A", " a  a "}},
		length:  0,
		signed:  "date;host;x-a",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-a:b,a a\n" +
			"\n" +
			"date;host;x-a\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"cc944c1f9ac8b194e5892df96afb0106094f277e763e0e62135b05beca1b8e19",
		signature: "6f4b8569bf8f1e5afda461a4a1759014ff5271f5b1c52a4d0e7d30eb541aa9f6",
	},
	{
		name:   "header: empty value",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-A", ""}},
		length:  0,
		signed:  "date;host;x-a",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-a:\n" +
			"\n" +
			"date;host;x-a\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"2a3ca30c2ed212fdaf9db15f917ba2dd77e18b056965a406b38a63fa99e932e8",
		signature: "4fb2931aa08501f09c00b9bf3791c381adde42377ba9ea73e52757bbb689b33a",
	},
	{
		name:   "header: names listed in another order",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"Content-Type", "text/plain"}},
		length:  0,
		signed:  "host;date;content-type",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"content-type:text/plain\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"content-type;date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"1f8ab6a40461e8b3ba97156bc25a6344af0007ea19f917552f64ce7e037be98a",
		signature: "c6f503831c2442c1a0208c097b2806ce14ef0e7c83dfbb3e78d7b782f1d571d4",
	},
	{
		name:   "header: name with digits",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-Shop-2", "7"}},
		length:  0,
		signed:  "date;host;x-shop-2",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-shop-2:7\n" +
			"\n" +
			"date;host;x-shop-2\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"dab36aa2745a61b4f4c0afb774a67d5ff3ce16ff8996115ba6f696fc1bceb50b",
		signature: "10784a022ba32f921110fd37f27ae5a0944dadce696cd6b3963c8959d2cdb720",
	},
	{
		name:   "header: prefix of another name",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"X-A", "1"}, {"X-A-B", "2"}},
		length:  0,
		signed:  "date;host;x-a;x-a-b",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"x-a:1\n" +
			"x-a-b:2\n" +
			"\n" +
			"date;host;x-a;x-a-b\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"bd7c913cc2245c70dcc33aa5464dd3478bb65617ce353c72ebf7f24f08d51466",
		signature: "1ad986582bd89fab22e5d23a1eeb2f5e49ce77eca83c49baca176b9c2496f4a6",
	},
	{
		name:   "header: content length put back",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		body:   "{}",
		length: 2,
		signed: "content-length;date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"content-length:2\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"content-length;date;host\n" +
			"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f167e3c1a187238d995e234d3b9540011a8b044ef07583f6250844179c1acf0e",
		signature: "d3576842935bb09d5a01bf0498c42f21166e98307c07ee81d425f99549b3157b",
	},
	{
		name:   "header: content length of nothing",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		length: 0,
		signed: "content-length;date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"content-length:0\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"content-length;date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"4df87016c7d61dd3466f351a1520ee14d0458fe9ccc0de7c92df93da8988d745",
		signature: "6f2ba67cf847e15f257291f8da164dae511b4ee92cb84eb56d10b04e40cbfb21",
	},
	{
		name:   "header: host with port as sent",
		method: "POST", target: "/events", host: "api.example.com:8080", date: "20260301T120000Z",
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com:8080\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"86a5ceb38975bbba3643d921dd3b451ca4a60ad112ca089f584e313c38dc4690",
		signature: "0d35dcca6f6b22d65b68359d4e0892a123cd80f39efeef9c8c1c39b450d38339",
	},
	{
		name:   "header: host with default port as sent",
		method: "POST", target: "/events", host: "api.example.com:443", date: "20260301T120000Z",
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com:443\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f201a7966f7f866ed73f2c807a6fb5fc7ce5581a97c40dc164a68a6f81ae70d5",
		signature: "65dbabc6a9774e1630da61b159a54ca31e8842f9adbfcb5a376d3a07b19dccfd",
	},
	{
		name:   "header: host without the default port 443",
		method: "POST", target: "/events", host: "api.example.com:443", date: "20260301T120000Z",
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"123eba6b6f691eb298cbf6923312c001d9e3eeb289520e0271d495d9ab744b3b",
		signature: "bb8283be9a60aa0632e5377dd22efdfb5fe10ea7c8012b4f16c78835b1d20962",
	},
	{
		name:   "header: host without the default port 80",
		method: "POST", target: "/events", host: "api.example.com:80", date: "20260301T120000Z",
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"123eba6b6f691eb298cbf6923312c001d9e3eeb289520e0271d495d9ab744b3b",
		signature: "bb8283be9a60aa0632e5377dd22efdfb5fe10ea7c8012b4f16c78835b1d20962",
	},
	{
		name:   "header: public host behind a proxy",
		method: "POST", target: "/events", host: "10.0.0.7:8080", date: "20260301T120000Z",
		hosts:  []string{"other.example.com", "api.example.com"},
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"123eba6b6f691eb298cbf6923312c001d9e3eeb289520e0271d495d9ab744b3b",
		signature: "bb8283be9a60aa0632e5377dd22efdfb5fe10ea7c8012b4f16c78835b1d20962",
	},
	{
		name:   "header: public host with a default port",
		method: "POST", target: "/events", host: "10.0.0.7:8080", date: "20260301T120000Z",
		hosts:  []string{"api.example.com:443"},
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"123eba6b6f691eb298cbf6923312c001d9e3eeb289520e0271d495d9ab744b3b",
		signature: "bb8283be9a60aa0632e5377dd22efdfb5fe10ea7c8012b4f16c78835b1d20962",
	},
	{
		name:   "header: host of IPv6",
		method: "POST", target: "/events", host: "[::1]:80", date: "20260301T120000Z",
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:[::1]\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"ac2268009d7c443bf86107dbf477741c683671872e556ddf2e54f123b78c1951",
		signature: "76efd2e3d4052707d5efa1c1502f15bc32cc7d19fe46cae16fb12d7f8475ff58",
	},
	{
		name:   "body: empty post",
		method: "POST", target: "/customers/c/activities/rewards/r/claim", host: "api.example.com", date: "20260301T120000Z",
		length: 0,
		signed: "date;host",
		canonical: "POST\n" +
			"/customers/c/activities/rewards/r/claim\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"fe9659a37989d748d4abee89e43ee2bf0320c9cab74cf7292898f52b6fe55e57",
		signature: "f154876fd0d22d8a9effd2a8e6f8f311cca667d7c6369b8d243586cf8299250b",
	},
	{
		name:   "body: json",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		body:   "{\"action\":\"point_add\",\"note\":\"árvíz\"}",
		length: 39,
		signed: "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e18445d4eaee32454633d7d19f5456a8f33811f5497a36181865c7a4df2f209b",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"ea94e4ac848fe9624bea0f34407d7a78fecc01ad64daf9bad3544f4e72dc49d1",
		signature: "5ced56e59ac863f2ef9bbbcb9f255f792b36f092f72331029d4785b6655e5226",
	},
	{
		name:   "body: form",
		method: "POST", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		headers: [][2]string{{"Content-Type", "application/x-www-form-urlencoded"}},
		body:    "a=1&b=%20+x",
		length:  11,
		signed:  "date;host",
		canonical: "POST\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"d58fba0ff0f3bfc8af12688f813e1b7cf529c51ba20628d3feaccd2cae9a44a1",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"678d031c8d4c1e64f96a6fbf579f009233e672d54ce31739e221b14c3dd80997",
		signature: "52f89fbebc4280891f697606a495d14ef81651571ed0092c625e04a8a4123f61",
	},
	{
		name:   "method: signed in upper case",
		method: "get", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"0ac62da5660a6aa08d7e1adeac463023cf6c3bb452d32acdcfa0975e532d12e9",
		signature: "f7aca27118887a4a7f809044fbc7207f73d5cdfc4f9c3027543a90b65b3de635",
	},
	{
		name:   "date: condensed",
		method: "GET", target: "/events", host: "api.example.com", date: "20260301T120000Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120000Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"0ac62da5660a6aa08d7e1adeac463023cf6c3bb452d32acdcfa0975e532d12e9",
		signature: "f7aca27118887a4a7f809044fbc7207f73d5cdfc4f9c3027543a90b65b3de635",
	},
	{
		name:   "date: HTTP date",
		method: "GET", target: "/events", host: "api.example.com", date: "Sun, 01 Mar 2026 12:00:00 GMT",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:Sun, 01 Mar 2026 12:00:00 GMT\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"6dad2e30d27e80a9b2a32f516a8ac082225a0c4498b76ead9f09f98875a21ecb",
		signature: "ddbfab6af49bc9b3b2ac6f92f535c980ea6b39092dd7dfc2579e9fce684079cf",
	},
	{
		name:   "date: HTTP date with another weekday",
		method: "GET", target: "/events", host: "api.example.com", date: "Fri, 01 Mar 2026 12:00:00 GMT",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:Fri, 01 Mar 2026 12:00:00 GMT\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"03d254718349f25545e0bdd9c27203825a8c0171d2ea6d494fc25ad57bc2719e",
		signature: "5fd2c11b41bb3e149281489751647c594f821647890c70a9774013c751f41d4c",
	},
	{
		name:   "date: extended with Z",
		method: "GET", target: "/events", host: "api.example.com", date: "2026-03-01T12:00:00Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:2026-03-01T12:00:00Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"6794b612f8224403c6d986ea84f8074ca0327486b849fe6ff43644f381921b03",
		signature: "87e30c47f5b381786d16cbaf5303a7d0dd2b9f14ba43487895e61185fd9b3916",
	},
	{
		name:   "date: extended with offset",
		method: "GET", target: "/events", host: "api.example.com", date: "2026-03-01T14:30:00+02:30",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:2026-03-01T14:30:00+02:30\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"f660eb04edcb235180e66dda7268535c4cb17d1afe0c50741145da95bedf9f01",
		signature: "c40f3dd4d6e26e3785f266db21c39a69d756f4061298809f643f809acff40a4a",
	},
	{
		name:   "date: extended with offset as Java writes it",
		method: "GET", target: "/events", host: "api.example.com", date: "2026-03-01T07:00:00-0500",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:2026-03-01T07:00:00-0500\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"80c999ab1a4923ae016078d94303764c9683696eea77a447add45b47ac3ecc75",
		signature: "74f347f79532fe10f179722bac8c241201c3ce09a06586ca3a2a24ffd19d59b6",
	},
	{
		name:   "date: extended, another day at its place",
		method: "GET", target: "/events", host: "api.example.com", date: "2026-03-02T00:30:00+12:30",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:2026-03-02T00:30:00+12:30\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120000Z\n" +
			"20260301/eu/api/service_request\n" +
			"d20360f5a0a36da9aa1f2b57700c988dfdc1697a0df4ee614840e99b79e0fa6b",
		signature: "38182ed07364384251bc3444f1c9a7616824ba1241863eeb3a2e4cecf7343f08",
	},
	{
		name:   "date: oldest",
		method: "GET", target: "/events", host: "api.example.com", date: "20260301T115500Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:20260301T115500Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T115500Z\n" +
			"20260301/eu/api/service_request\n" +
			"ea220b24c02a03b0f82b2eeaa021cdc1070b0b5d2e0c140d9a20836dd3c651e3",
		signature: "52b8e3aa9ca41c9f5447e43f4ef4801cfce73bd60f541dae4190f3c575ce03e0",
	},
	{
		name:   "date: newest",
		method: "GET", target: "/events", host: "api.example.com", date: "20260301T120500Z",
		length: -1,
		signed: "date;host",
		canonical: "GET\n" +
			"/events\n" +
			"\n" +
			"date:20260301T120500Z\n" +
			"host:api.example.com\n" +
			"\n" +
			"date;host\n" +
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		text: "SERVICE-HMAC-SHA256\n" +
			"20260301T120500Z\n" +
			"20260301/eu/api/service_request\n" +
			"cbdca1687cf02c60f18181a5716eee966f113ae2b90fc3ac737b2fa4c8f22237",
		signature: "371228cdbf7debf48b92b1d25193b90eb1ceaaddf22023b42dfe093a405c8002",
	},
}
