// The texts of a page's scripts, in the page's language. The platform's own answers name their language.
const said = {
  en: {
    unsigned: 'A browser signs on https and on this machine only. Use “loyalty sign” here.',
    canonical: 'The canonical request', text: 'The string to sign', signature: 'The signature', headers: 'The headers',
    sending: 'Sending …', took: '{status} in {took} ms', means: 'What error {code} means', answered: 'Headers of the answer', unsent: 'It was not sent: {why}',
    enter: 'Sign in to the console', anew: 'A proof of who you are is needed: sign in anew, then press the button again.', nobody: 'No one is signed in to the console in this browser. Sign in, then press the button again.',
    password: 'Your password', code: 'A code of your app', proof: 'Making a key needs a fresh proof of who you are.', confirm: 'Confirm', unconfirmed: 'It was not confirmed.',
    owner: 'Only an owner can make a key.', unmade: 'The key was not made.', made: 'The key {key} reads only and ends at {at}. Its secret is in this form and nowhere else.',
    method: 'the method', path: 'the path', query: 'the query', body: 'the hash of the body', names: 'the names of the signed headers', header: 'the header {name}', more: 'the headers', empty: '(an empty line)',
    alike: 'The server canonicalised the request as this page did: key or secret are wrong.', differs: 'Line {line} of what the server canonicalised differs, {part}. The page signed:', got: 'The server got:',
    behind: 'The request was signed for {date}, by the clock of this machine. It is {by} behind the server\'s. Set it by the network, then sign anew.',
    ahead: 'The request was signed for {date}, by the clock of this machine. It is {by} ahead of the server\'s. Set it by the network, then sign anew.',
    unknown: 'No operation has this path.', all: 'These are all of them.', nearest: 'No operation has this method and path. The nearest are:',
  },
  es: {
    unsigned: 'Un navegador solo firma en https y en esta misma máquina. Use aquí «loyalty sign».',
    canonical: 'La solicitud canónica', text: 'La cadena que se firma', signature: 'La firma', headers: 'Las cabeceras',
    sending: 'Enviando…', took: '{status} en {took} ms', means: 'Qué significa el error {code}', answered: 'Cabeceras de la respuesta', unsent: 'No se ha enviado: {why}',
    enter: 'Entrar en la consola', anew: 'Hace falta una prueba de quién es usted: entre de nuevo y pulse el botón otra vez.', nobody: 'Nadie ha entrado en la consola con este navegador. Entre y pulse el botón otra vez.',
    password: 'Su contraseña', code: 'Un código de su aplicación', proof: 'Para crear una clave hace falta una prueba reciente de quién es usted.', confirm: 'Confirmar', unconfirmed: 'No se ha confirmado.',
    owner: 'Solo un propietario puede crear una clave.', unmade: 'No se ha creado la clave.', made: 'La clave {key} solo lee y termina a las {at}. Su secreto está en este formulario y en ningún otro lugar.',
    method: 'el método', path: 'la ruta', query: 'la consulta', body: 'el hash del cuerpo', names: 'los nombres de las cabeceras firmadas', header: 'la cabecera {name}', more: 'las cabeceras', empty: '(una línea vacía)',
    alike: 'El servidor ha puesto la solicitud en forma canónica igual que esta página: la clave o el secreto no son correctos.', differs: 'La línea {line} de la forma canónica del servidor es distinta: {part}. La página firmó:', got: 'El servidor recibió:',
    behind: 'La solicitud se firmó para {date}, según el reloj de esta máquina. Va {by} por detrás del reloj del servidor. Ajústelo por la red y firme de nuevo.',
    ahead: 'La solicitud se firmó para {date}, según el reloj de esta máquina. Va {by} por delante del reloj del servidor. Ajústelo por la red y firme de nuevo.',
    unknown: 'Ninguna operación tiene esta ruta.', all: 'Estas son todas.', nearest: 'Ninguna operación tiene este método y esta ruta. Las más parecidas son:',
  },
  fr: {
    unsigned: 'Un navigateur ne signe qu’en https et sur cette machine même. Utilisez ici « loyalty sign ».',
    canonical: 'La requête canonique', text: 'La chaîne à signer', signature: 'La signature', headers: 'Les en-têtes',
    sending: 'Envoi…', took: '{status} en {took} ms', means: 'Ce que signifie l’erreur {code}', answered: 'En-têtes de la réponse', unsent: 'Rien n’a été envoyé : {why}',
    enter: 'Se connecter à la console', anew: 'Il faut prouver qui vous êtes : connectez-vous de nouveau, puis appuyez encore une fois sur le bouton.', nobody: 'Personne n’est connecté à la console dans ce navigateur. Connectez-vous, puis appuyez encore une fois sur le bouton.',
    password: 'Votre mot de passe', code: 'Un code de votre application', proof: 'Pour créer une clé, il faut prouver à nouveau qui vous êtes.', confirm: 'Confirmer', unconfirmed: 'Ce n’est pas confirmé.',
    owner: 'Seul un propriétaire peut créer une clé.', unmade: 'La clé n’a pas été créée.', made: 'La clé {key} ne fait que lire et expire à {at}. Son secret est dans ce formulaire et nulle part ailleurs.',
    method: 'la méthode', path: 'le chemin', query: 'les paramètres', body: 'le hachage du corps', names: 'les noms des en-têtes signés', header: 'l’en-tête {name}', more: 'les en-têtes', empty: '(une ligne vide)',
    alike: 'Le serveur a mis la requête sous la même forme canonique que cette page : la clé ou le secret est faux.', differs: 'La ligne {line} de la forme canonique du serveur diffère : {part}. La page a signé :', got: 'Le serveur a reçu :',
    behind: 'La requête a été signée pour {date}, d’après l’horloge de cette machine. Elle retarde de {by} sur celle du serveur. Réglez-la par le réseau, puis signez de nouveau.',
    ahead: 'La requête a été signée pour {date}, d’après l’horloge de cette machine. Elle avance de {by} sur celle du serveur. Réglez-la par le réseau, puis signez de nouveau.',
    unknown: 'Aucune opération n’a ce chemin.', all: 'Les voici toutes.', nearest: 'Aucune opération n’a cette méthode et ce chemin. Les plus proches sont :',
  },
  hu: {
    unsigned: 'A böngésző csak https-en és ezen a gépen ír alá. Itt használja a „loyalty sign” parancsot.',
    canonical: 'A kanonikus kérés', text: 'Az aláírandó szöveg', signature: 'Az aláírás', headers: 'A fejlécek',
    sending: 'Küldés…', took: '{status}, {took} ms alatt', means: 'Mit jelent a {code} hiba', answered: 'A válasz fejlécei', unsent: 'Nem lett elküldve: {why}',
    enter: 'Belépés a konzolba', anew: 'Igazolnia kell, hogy ki Ön: lépjen be újra, majd nyomja meg ismét a gombot.', nobody: 'Ebben a böngészőben senki nem lépett be a konzolba. Lépjen be, majd nyomja meg ismét a gombot.',
    password: 'Az Ön jelszava', code: 'Az alkalmazás kódja', proof: 'Kulcs készítéséhez újra igazolnia kell, hogy ki Ön.', confirm: 'Megerősítés', unconfirmed: 'Nincs megerősítve.',
    owner: 'Kulcsot csak tulajdonos készíthet.', unmade: 'A kulcs nem készült el.', made: 'A {key} kulcs csak olvas, és ekkor jár le: {at}. A titka ebben az űrlapban van, máshol sehol.',
    method: 'a metódus', path: 'az útvonal', query: 'a lekérdezés', body: 'a törzs hash-e', names: 'az aláírt fejlécek nevei', header: 'a(z) {name} fejléc', more: 'a fejlécek', empty: '(üres sor)',
    alike: 'A szerver ugyanarra a kanonikus alakra hozta a kérést, mint ez az oldal: a kulcs vagy a titok hibás.', differs: 'A szerver kanonikus alakjának {line}. sora eltér: {part}. Az oldal ezt írta alá:', got: 'A szerver ezt kapta:',
    behind: 'A kérés aláírása erre az időre szól: {date}, ennek a gépnek az órája szerint. Ez {by} értékkel késik a szerveréhez képest. Állítsa be a hálózatról, majd írja alá újra.',
    ahead: 'A kérés aláírása erre az időre szól: {date}, ennek a gépnek az órája szerint. Ez {by} értékkel siet a szerveréhez képest. Állítsa be a hálózatról, majd írja alá újra.',
    unknown: 'Nincs ilyen útvonalú művelet.', all: 'Ez az összes.', nearest: 'Nincs ilyen metódusú és útvonalú művelet. A legközelebbiek:',
  },
};
const words = said[document.documentElement.lang] ?? said.en;

// t returns a text; {name} in it is replaced.
export const t = (name, given = {}) => words[name].replace(/\{(\w+)\}/g, (_, hole) => given[hole]);
