package portal

import (
	"net/http"

	tongues "golang.org/x/text/language"
)

// words are the texts around a page. The pages themselves are in English, like the documents.
type words struct {
	Language                                                                          string
	Skip, Search, Example, Sections, Reference, Markdown, English                     string
	Try, Warning, Method, Target, Body, Key, Secret, Region, Send, Only               string
	Signed, Hour                                                                      string
	Start, Guide, APIs, Events, Entities, Modules, Conditions, Signing, Hooks, Errors string
}

// spoken are the languages of the portal, English first, which is the default.
var spoken = []words{
	{
		"en", "Skip to the page", "Search", "/ action, operation, code", "Sections", "Reference", "This page as Markdown", "",
		"Try it", "The page signs with what you type here. The secret stays in this page; what is sent is the signed request. Never type a production secret into a web page.",
		"Method", "Target", "Body", "Key id", "Secret", "Region", "Sign and send", "Sign only",
		"Send as the user who is signed in to the console", "Make a key that only reads and ends in an hour",
		"Start here", "Guide", "The APIs", "Events", "Entities", "Modules", "Conditions", "Signing", "Webhooks", "Errors",
	},
	{
		"es", "Ir a la página", "Buscar", "/ acción, operación, código", "Secciones", "Referencia", "Esta página en Markdown",
		"Las páginas están en inglés.",
		"Probar", "La página firma con lo que escriba aquí. El secreto se queda en esta página; se envía la solicitud firmada. Nunca escriba un secreto de producción en una página web.",
		"Método", "Destino", "Cuerpo", "Id de la clave", "Secreto", "Región", "Firmar y enviar", "Solo firmar",
		"Enviar como el usuario que ha entrado en la consola", "Crear una clave que solo lee y termina en una hora",
		"Empiece aquí", "Guía", "Las API", "Eventos", "Entidades", "Módulos", "Condiciones", "Firma", "Webhooks", "Errores",
	},
	{
		"fr", "Aller à la page", "Rechercher", "/ action, opération, code", "Sections", "Référence", "Cette page en Markdown",
		"Les pages sont en anglais.",
		"Essayer", "La page signe avec ce que vous saisissez ici. Le secret reste dans cette page ; c’est la requête signée qui part. Ne saisissez jamais un secret de production dans une page web.",
		"Méthode", "Cible", "Corps", "Id de la clé", "Secret", "Région", "Signer et envoyer", "Signer seulement",
		"Envoyer au nom de l’utilisateur connecté à la console",
		"Créer une clé qui ne fait que lire et expire dans une heure",
		"Pour commencer", "Guide", "Les API", "Événements", "Entités", "Modules", "Conditions",
		"Signature", "Webhooks", "Erreurs",
	},
	{
		"hu", "Ugrás az oldalra", "Keresés", "/ művelet, hívás, kód", "Fejezetek", "Hivatkozás", "Ez az oldal Markdownban",
		"Az oldalak angol nyelvűek.",
		"Próba", "Az oldal azzal ír alá, amit ide beír. A titok ezen az oldalon marad; az aláírt kérés megy el. Éles titkot soha ne írjon weboldalra.",
		"Metódus", "Cél", "Törzs", "Kulcsazonosító", "Titok", "Régió", "Aláírás és küldés", "Csak aláírás",
		"Küldés a konzolba belépett felhasználóként", "Egy óráig élő, csak olvasó kulcs készítése",
		"Kezdje itt", "Útmutató", "Az API-k", "Események", "Entitások", "Modulok", "Feltételek",
		"Aláírás", "Webhookok", "Hibák",
	},
}

var speaker = func() tongues.Matcher {
	tags := make([]tongues.Tag, len(spoken))
	for i, w := range spoken {
		tags[i] = tongues.Make(w.Language)
	}
	return tongues.NewMatcher(tags)
}()

// wordsFor are the words in the reader's language.
func wordsFor(r *http.Request) words {
	wanted, _, err := tongues.ParseAcceptLanguage(r.Header.Get("Accept-Language"))
	if err != nil {
		return spoken[0]
	}
	_, at, _ := speaker.Match(wanted...)
	return spoken[at]
}

// section is the name of a section of the menu; empty if there is none.
func (w words) section(path string) string {
	return map[string]string{
		"/docs": w.Start, "/docs/guide": w.Guide, "/docs/apis": w.APIs, "/docs/events": w.Events,
		"/docs/entities": w.Entities, "/docs/modules": w.Modules,
		"/docs/conditions": w.Conditions, "/docs/signing": w.Signing, "/docs/webhooks": w.Hooks, "/docs/errors": w.Errors,
	}[path]
}
