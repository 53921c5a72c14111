/// All commands of `pippin`, and of the programs that it launches.
package enum CommandManual {
    package static let purpose =
        "pippin looks into the stores of Core Data, without changing a byte of them, and migrates, mends and changes them when asked."

    package static let all: [CommandDescription] = looking + [shell] + changing + models + others

    /// The names of the commands that people type, those of one word.
    package static let commands = all.map(\.name).filter { !$0.contains(" ") }

    /// A command by its name.
    package static func command(_ name: String) -> CommandDescription? { all.first { $0.name == name } }

    private static let model = CommandDescription.Option(
        name: "--model", value: "MODEL",
        text:
            "The model to read the store with: .momd, .mom, .xcdatamodeld or .xcdatamodel. Without it, the copy that the store keeps of its model; "
            + "where there is none, objects are shown as the store's tables, or its file, have them.")
    private static let format = CommandDescription.Option(
        name: "--format", value: "FORMAT", text: "table, csv, json or jsonl (JSON Lines). Without it, a table.",
        choices: ["table", "csv", "json", "jsonl"])
    private static let inPlace = CommandDescription.Option(
        name: "--in-place",
        text:
            "Read the store where it is, and not a copy: for very large ones. Nothing of it or beside it is changed."
    )

    private static let evidence = CommandDescription.Option(
        name: "--evidence", value: "FILE",
        text:
            "Write a manifest of the run: version and arguments of the program, the time, SHA-256, size and time of each file of the store before it was read and whether they are the same afterwards, "
            + "which pages and frames were read, and the same of each file that was written."
    )
    private static let dates = CommandDescription.Option(
        name: "--dates", value: "LIST",
        text:
            "Numbers that are dates, as property=epoch or Entity.property=epoch, with commas: sent=unix-ms,Visit.time=webkit. Epochs are unix, unix-ms, unix-us, unix-ns, 2001, 2001-ns "
            + "and webkit (microseconds since 1601)."
    )
    private static let atCommit = CommandDescription.Option(
        name: "--at-commit", value: "NUMBER",
        text:
            "Read the store as of a commit of its write-ahead log: 1 for the first, 0 for the file without its log. Without it, as of the last one."
    )

    private static let verbatim = CommandDescription.Option(
        name: "--verbatim",
        text:
            "Write texts into CSV as they are. Without it, an apostrophe stands before a text that a spreadsheet would compute (=, +, -, @ at its beginning; "
            + "numbers and telephone numbers stay); import takes it away again."
    )

    private static let looking = [
        CommandDescription(
            name: "info", usage: ["STORE [--at-commit NUMBER] [--evidence FILE] [--model MODEL]", "URL"],
            summary: "what the store is, and its entities",
            text:
                "What the store is, and its entities: attributes, relationships, inheritance, how many objects. Of a store in PostgreSQL (postgresql://…), what its servers say, too.",
            options: [atCommit, evidence, model]),
        CommandDescription(
            name: "dump",
            usage: [
                "STORE|URL [--entity NAME] [--json [--decode]] [--at-commit NUMBER] [--evidence FILE] [--model MODEL]"
            ],
            summary: "the objects, for people or as JSON",
            text: "The objects, with their attributes and relationships.",
            options: [
                .init(
                    name: "--entity", value: "NAME",
                    text: "Only objects of this entity and of those that inherit from it."),
                .init(
                    name: "--json",
                    text:
                        "One JSON object. Its “objects” has, for the name of each entity, an array of objects: objectID (the URI), attributes by name "
                        + "(dates in ISO 8601, data in Base64), relationships as URIs. What is not there is null, or left out of a list, and named in the object's member “$marks”."
                ),
                .init(
                    name: "--decode",
                    text:
                        "Add to each object of --json the member “$contents”, with what the bytes of its values hold: keyed archives, property lists, JSON, text, gzip, images, bodies of "
                        + "Apple Notes. The bytes themselves stay where they are."
                ),
                atCommit, evidence, model,
            ]),
        CommandDescription(
            name: "query",
            usage: ["STORE|URL QUERY [--format FORMAT] [--columns NAMES] [--verbatim] [--model MODEL] [--in-place]"],
            summary: "the objects that a condition holds for",
            text: "The objects of an entity that a condition holds for, in an order.\nQUERY is one argument:\n"
                + "    'Book where price > 10 and author.name beginswith \"J\" order by title desc limit 20 offset 40'\n"
                + "Conditions are those of Core Data's predicates; dates and UUIDs may be written as texts. Rows are written as they are read, however many there are.\n"
                + "    'Book search whale* \"white sea\" where price < 20 limit 20'\n"
                + "finds the objects whose texts have these words, as “search” does: best first, unless an order is given.",
            options: [
                format,
                .init(
                    name: "--columns", value: "NAMES",
                    text: "Only these attributes and to-one relationships, in this order: title,price."),
                verbatim, model, inPlace,
            ]),
        CommandDescription(
            name: "search",
            usage: [
                "STORE|URL TEXT [--entity NAME] [--limit NUMBER] [--format FORMAT] [--english] [--model MODEL] [--in-place]"
            ],
            summary: "the objects whose texts have some words",
            text: "The objects of all entities whose texts have what TEXT says, best first, with the places.\n"
                + "TEXT is what people type into a search field: words that must all occur, 'whal*' for the beginning of a word, '\"white whale\"' for words that follow each other, "
                + "'-moby' for what must not occur, 'OR' between alternatives; everything else is text. Case, accents and widths make no difference, and pieces of Chinese, Japanese, "
                + "Korean and Thai texts are found. All texts are read and compared; no index is made, and the store stays as it is. A TEXT that begins with “-” comes after “--”.",
            options: [
                .init(
                    name: "--entity", value: "NAME",
                    text: "Only objects of this entity and of those that inherit from it."),
                .init(name: "--limit", value: "NUMBER", text: "How many objects at most; without it, 20."),
                .init(
                    name: "--format", value: "FORMAT", text: "table, json or jsonl (JSON Lines). Without it, a table.",
                    choices: ["table", "json", "jsonl"]),
                .init(name: "--english", text: "Find English words with other endings, too: whale, whales, whaling."),
                model, inPlace,
            ]),
        CommandDescription(
            name: "sql", usage: ["STORE|URL SELECT [--format FORMAT] [--verbatim] [--model MODEL] [--in-place]"],
            summary: "the rows of a SELECT over entities",
            text:
                "Runs one SELECT in SQLite's or PostgreSQL's SQL, with the names of the model: entities are tables, attributes and to-one relationships are columns, dates are dates.\n"
                + "    'SELECT author.name, count(*) FROM Book JOIN Author author ON Book.author = author._id GROUP BY 1 ORDER BY 2 DESC'\n"
                + "“_id” is the key of an object's row, which a relationship's column holds; an element of a composite attribute is “address_city”; pairs of a relationship between "
                + "many and many are the table “Book_tags” with the columns “book” and “tags”. The tables of the database have their own names beside these. Nothing can be changed by it.",
            options: [format, verbatim, model, inPlace]),
        CommandDescription(
            name: "export",
            usage: [
                "STORE|URL ENTITY [--format FORMAT] [--output FILE] [--verbatim] [--evidence FILE] [--model MODEL] [--in-place]",
                "STORE|URL --all --output FOLDER [--format FORMAT] [--verbatim] [--model MODEL] [--in-place]",
            ],
            summary: "all objects of an entity as a file",
            text:
                "All objects of an entity, and of those that inherit from it, with their attributes and to-one relationships. The dates of a column have one width. "
                + "Parquet and Arrow are not written: Debian has no C library for them; DuckDB and pandas make both from the CSV.",
            options: [
                .init(
                    name: "--all",
                    text:
                        "A file for each entity, with its own objects only: Author.csv, Book.csv …; --output names their folder."
                ),
                .init(
                    name: "--format", value: "FORMAT",
                    text: "csv, json or jsonl (JSON Lines). Without it, what FILE's extension says, or else csv.",
                    choices: ["csv", "json", "jsonl"]),
                .init(name: "--output", value: "FILE", text: "Where to write it; without it, to the standard output."),
                verbatim, evidence, model, inPlace,
            ]),
        CommandDescription(
            name: "views", usage: ["STORE [--model MODEL]"], summary: "views for programs that read SQLite",
            text:
                "Prints a script that attaches the store and makes a view of each entity: the model's names, dates and UUIDs as texts, JSON as text, a view of the pairs of each relationship "
                + "from many to many. The views belong to the connection that runs the script; the store stays as it is.\n"
                + "    pippin views books.sqlite > views.sql; sqlite3 -init views.sql :memory: 'SELECT title FROM Book'",
            options: [model]),
        CommandDescription(
            name: "check", usage: ["STORE [--repair COPY] [--model MODEL]"], summary: "what is wrong with a store",
            text:
                "Looks at the file (SQLite's integrity check) and its write-ahead log, at references that lead to no object or one way only, at the counters that new objects get their numbers from, at "
                + "unique values that are not, at values that their property cannot have, at files of external data, and at what the model has and the store has not. "
                + "In XML and binary stores it looks at references, values, and numbers and properties that are there twice.",
            options: [
                .init(
                    name: "--repair", value: "COPY",
                    text:
                        "Write a copy of the store in which counters are right, references that lead nowhere are gone, and indexes are new. Rows that cannot be read are left out, and named. The store stays as it is."
                ),
                model,
            ],
            statuses: [(3, "something is wrong, or was not mended")]),
        CommandDescription(
            name: "report", usage: ["STORE --output FILE.html [--evidence FILE] [--model MODEL]"],
            summary: "one page on a store, to attach to a ticket",
            text:
                "One page in HTML that needs nothing else: counts, sizes, the diagram (where Graphviz is installed), samples, and warnings: what is wrong with the "
                + "store, indexes that its fetch requests and sorting by relationships would need, objects that nothing leads to, large values.",
            options: [
                .init(name: "--output", value: "FILE", text: "The page to write; -o means the same."), evidence, model,
            ]),
        CommandDescription(
            name: "recover",
            usage: ["STORE --output FOLDER [--only-gone] [--at-commit NUMBER] [--evidence FILE] [--model MODEL]"],
            summary: "what was deleted or changed, as far as the files still have it",
            text:
                "Looks for objects that were deleted, and for earlier versions of those that are there: in the frames of the write-ahead log, also of earlier rounds of it, in free pages, "
                + "free blocks and unallocated space of pages, and in the persistent history. FOLDER gets “objects.jsonl”, an object a line, with “origin” (live, file, frame 12, "
                + "free page 7, free block of page 3, unallocated space of page 3, history), its place, and how sure it is that there was such an object (“confidence”, from 0 to 1); “found.sqlite”, "
                + "a plain SQLite file with a table for each entity of what was found; and “summary.json”, with the numbers that were handed out and that no object has. "
                + "The store is read where it is, and nothing of it or beside it is changed.",
            options: [
                .init(
                    name: "--output", value: "FOLDER",
                    text: "The folder to make, or one that is empty; -o means the same."),
                .init(name: "--only-gone", text: "Leave out the objects that the store has."), atCommit, evidence,
                model,
            ]),
        CommandDescription(
            name: "history", usage: ["STORE [--of OBJECT] [--follow] [--json] [--model MODEL]"],
            summary: "the persistent history, change by change",
            text:
                "Shows the persistent history of a store: each transaction with its time, author and program, and the objects that it made, changed (with the properties) and deleted (with the values that the "
                + "deletion preserved). Where a program of Pippin's keeps what was before, that is shown, too.",
            options: [
                .init(
                    name: "--of", value: "OBJECT",
                    text: "Only the past of one object, by the name that the history gives it: Letter/p1."),
                .init(
                    name: "--follow",
                    text:
                        "Go on with what is saved later, until the command is interrupted. The store is read in its place."
                ),
                .init(name: "--json", text: "A JSON object for each change, one a line."), model,
            ]),
        CommandDescription(
            name: "timeline",
            usage: ["STORE|FOLDER… [--format FORMAT] [--output FILE] [--dates LIST] [--model MODEL]"],
            summary: "the dates of all objects, in the order of time",
            text:
                "Writes a line for each date of each object of all stores, the earliest first: time, entity, property, what names the object, its URI, and the store. In folders, stores are found "
                + "as “scan” finds them; one that cannot be read is named, and left out. However many dates there are, few are in memory at a time.",
            options: [
                .init(
                    name: "--format", value: "FORMAT",
                    text:
                        "jsonl (JSON Lines), or csv, in the form that plaso calls l2tcsv and Timesketch reads. Without it, what FILE's extension says, or else jsonl.",
                    choices: ["jsonl", "csv"]),
                .init(
                    name: "--output", value: "FILE",
                    text: "Where to write it, without it to the standard output; -o means the same."),
                dates, model,
            ]),
        CommandDescription(
            name: "scan", usage: ["FOLDER… [--json]"], summary: "the stores in folders, found by their content",
            text:
                "Finds every store of Core Data in folders, whatever its name, with its kind, size, identifier, entities and numbers of objects. In a backup of an iOS device, which “Manifest.db” describes, "
                + "it says where each store was on the device, and which file is its log. Symbolic links are not followed.",
            options: [.init(name: "--json", text: "A JSON object for each store, one a line.")]),
        CommandDescription(
            name: "browse", usage: ["STORE|URL [--write] [--port NUMBER] [--no-open] [--model MODEL] [--schema NAME]"],
            summary: "the store in a web browser",
            text:
                "Shows the store in a web browser of this machine: entities, objects, relationships, the model's diagram, the history; changes of other programs show as "
                + "they come. The address has a secret in it and is reached from this machine only. The program “pippin-browse” does it, which is built and installed apart: "
                + "it needs libmicrohttpd and libpq.",
            options: [
                .init(
                    name: "--write",
                    text: "Let values be edited and objects be deleted, after a confirmation; it can be taken back."),
                .init(
                    name: "--port", value: "NUMBER",
                    text: "The port of 127.0.0.1 to listen on; without it, any that is free."),
                .init(name: "--no-open", text: "Do not open the address in the desktop's browser."), model,
                .init(
                    name: "--schema", value: "NAME",
                    text:
                        "The schema of a store in PostgreSQL (postgresql://…); without it, what the URL says, or public."
                ),
            ]),
    ]

    private static let shell = CommandDescription(
        name: "shell", usage: ["STORE [--model MODEL]"], summary: "queries at a prompt",
        text:
            "Asks for queries, as “query” takes them, and prints what they find: with history, and completion of entities, keys and operators by the tabulator key. Where the input is no "
            + "terminal, its lines are the queries. The program “pippin-shell” does it, which is built and installed apart: it needs libedit.",
        options: [model])

    private static let changing = [
        CommandDescription(
            name: "import",
            usage: [
                "STORE|URL ENTITY FILE [--update] [--map NAMES] [--ignore NAMES] [--format FORMAT] [--verbatim] [--model MODEL]"
            ],
            summary: "new objects from CSV, JSON or JSON Lines",
            text:
                "Adds an object to the store for each line, or each element, of a file. Columns and members are attributes by their names; what is there under another name is refused. "
                + "A to-one relationship is the identifier, or other unique value, of an object of the store, or its URI, as export writes it; a column “author.name” finds it by that attribute. "
                + "“objectID” is left out. All are added, or none. Rows are written as they are read, "
                + "however many there are, unless a relationship's other side has an order or leads to one object: then all are in memory at once.",
            options: [
                .init(
                    name: "--update",
                    text:
                        "Change the object of the store that has the same unique values, where there is one; it keeps the values that the file does not have. Without it, such an object is refused."
                ),
                .init(
                    name: "--map", value: "NAMES",
                    text: "What columns stand for, where their names are others: --map 'Titel=title,Autor=author.name'."
                ),
                .init(
                    name: "--ignore", value: "NAMES",
                    text: "Columns to leave out, with commas between them; '*' for all that the entity does not have."),
                .init(
                    name: "--format", value: "FORMAT",
                    text: "csv, json or jsonl (JSON Lines). Without it, what FILE's extension says.",
                    choices: ["csv", "json", "jsonl"]),
                .init(
                    name: "--verbatim",
                    text:
                        "Read the cells of CSV as they are, with an apostrophe before what a spreadsheet would compute."
                ),
                model,
            ]),
        CommandDescription(
            name: "migrate",
            usage: [
                "STORE --to MODEL [--version NAME] [--mapping FILE | --mappings FOLDER] [--dry-run]",
                "STORE|URL --to MODEL [--sql]",
            ],
            summary: "brings a store to a version of a model",
            text:
                "Brings the store to a version of a model, after showing what changes. If that fails, the store is as it was.",
            options: [
                .init(
                    name: "--to", value: "MODEL",
                    text: "The model to get to: .momd, .mom, .xcdatamodeld or .xcdatamodel."),
                .init(
                    name: "--version", value: "NAME", text: "The version of that model; without it, the current one."),
                .init(
                    name: "--mapping", value: "FILE",
                    text: "A mapping model (.cdm or .xcmappingmodel) to follow; without it, the mapping is inferred."),
                .init(
                    name: "--mappings", value: "FOLDER",
                    text:
                        "Go over the versions of the model, by the shortest chain of steps that passes over none of the mapping models (.cdm or .xcmappingmodel) in the folder; "
                        + "other steps are inferred. Without it, that is done where the mapping cannot be inferred in one step."
                ),
                .init(name: "--dry-run", text: "Only show what would be done, with the SQL."),
                .init(
                    name: "--sql",
                    text:
                        "Only print the statements, for whoever may run them. As everything with stores in PostgreSQL (postgresql://…), the program “pippin-postgres” does it."
                ),
            ]),
        CommandDescription(
            name: "copy", usage: ["STORE|URL STORE|URL [--model MODEL]"],
            summary: "a store copied between files and servers",
            text:
                "Copies a store to where there is none: a file, which becomes an SQLite store, or PostgreSQL (postgresql://app@db.example/books?schema=shop). Objects keep their numbers where these are free; the history is not copied. Where PostgreSQL is an end of it, the program "
                + "“pippin-postgres” does it, which is built and installed apart: it needs libpq.",
            options: [
                .init(
                    name: "--model", value: "MODEL",
                    text:
                        "The model to read a file with: .momd, .mom, .xcdatamodeld or .xcdatamodel, of which one version has to be the store's. Without it, the copy that the store keeps of its model, which XML and binary stores, and SQLite stores of before iOS 8, do not have."
                )
            ]),
    ]

    private static let others = [
        CommandDescription(
            name: "completions", usage: ["bash | zsh | fish"], summary: "what a shell completes",
            text: "Writes the completions of a shell, for its folder of such files. “make install” puts them there."),
        CommandDescription(
            name: "manual", usage: ["[--all FOLDER]"], summary: "the manual page",
            text: "Writes the manual page of all commands, in the language of man.",
            options: [
                .init(
                    name: "--all", value: "FOLDER",
                    text:
                        "Write that page and one of each command into a folder that is there: pippin.1, pippin-query.1, …"
                )
            ]),
    ]
}

// `pippin model` and its commands.
extension CommandManual {
    private static let version = CommandDescription.Option(
        name: "--version", value: "NAME", text: "The version of the model; without it, the current one.")

    static let models = [
        CommandDescription(
            name: "model", usage: ["COMMAND …"],
            summary: "models: describe, validate, diff, graph, generate, swiftdata, compile, extract",
            text:
                "Works with models. MODEL is an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store, which keeps a copy of its model. The commands are describe, validate, "
                + "diff, graph, generate, swiftdata, compile and extract; “pippin model COMMAND --help” says more."),
        CommandDescription(
            name: "model describe", usage: ["MODEL [--version NAME]"], summary: "what is in a model",
            text:
                "The entities of a model with their attributes, relationships, constraints and indexes, and what tells its version: identifiers, checksum, and whose the version "
                + "hashes are.", options: [version]),
        CommandDescription(
            name: "model validate", usage: ["MODEL [--version NAME] [--strict]"], summary: "what is wrong with it",
            text:
                "Says what is wrong with the versions of a model, also what shows only when a store is made of it or an object checked: derived attributes, patterns. It warns of "
                + "what is likely to be a mistake: relationships without an inverse, names that objects have for themselves, values that any class may hide in, fetch requests for "
                + "properties that are not there, constraints that no store enforces.",
            options: [
                .init(name: "--version", value: "NAME", text: "Only this version."),
                .init(name: "--strict", text: "Warnings fail, too."),
            ]),
        CommandDescription(
            name: "model diff", usage: ["A B [--from NAME] [--to NAME]"],
            summary: "what changes from one to the other, and what becomes of stores",
            text:
                "What changes from model A to model B, and what becomes of stores: whether they need no migration, migrate by an inferred mapping, or need a mapping model, and what "
                + "that has to say. A and B may be one package, with --from and --to naming its versions; B may be left out then.",
            options: [
                .init(name: "--from", value: "NAME", text: "The version of A; without it, the current one."),
                .init(name: "--to", value: "NAME", text: "The version of B; without it, the current one."),
            ],
            statuses: [(2, "a mapping model is needed")]),
        CommandDescription(
            name: "model graph", usage: ["MODEL [--version NAME] [--format dot|svg|png] [--output FILE]"],
            summary: "its entities as a diagram",
            text:
                "The entities as a diagram: attributes in boxes, relationships as lines with “1” or “*” at their ends, inheritance as arrows. SVG and PNG are drawn by Graphviz, "
                + "which must be installed; DOT is its language, and needs nothing.",
            options: [
                version,
                .init(
                    name: "--format", value: "FORMAT", text: "Without it, what FILE's extension says, or else dot.",
                    choices: ["dot", "svg", "png"]),
                .init(name: "--output", value: "FILE", text: "Where to write it; without it, to the standard output."),
            ]),
        CommandDescription(
            name: "model generate", usage: ["MODEL [--version NAME] [--output FILE] [--module NAME] [--all]"],
            summary: "its record classes in Swift",
            text:
                "The classes of the objects in Swift, as the package plugin generates them: whole classes or extensions, as the model says for each entity.",
            options: [
                version,
                .init(
                    name: "--output", value: "FILE", text: "Where to write them; without it, to the standard output."),
                .init(
                    name: "--module", value: "NAME",
                    text: "The module that the classes are for, which their names leave out."),
                .init(name: "--all", text: "A class for each entity, also where the model says that there is one."),
            ]),
        CommandDescription(
            name: "model swiftdata", usage: ["MODEL [--version NAME] [--output FILE]"],
            summary: "its classes for SwiftData",
            text:
                "A @Model class for each entity, also of a store, with which SwiftData opens it. Composite attributes become structs: whether a program had an enumeration there, a model does not tell.",
            options: [
                version,
                .init(
                    name: "--output", value: "FILE", text: "Where to write them; without it, to the standard output."),
            ]),
        CommandDescription(
            name: "model compile",
            usage: [
                "MODEL --output FILE.momd|FILE.mom [--module NAME]",
                "MAPPING.xcmappingmodel --output FILE.cdm [--from MODEL --to MODEL]",
            ],
            summary: "a .momd of it, or a .cdm of a mapping model",
            text:
                "Compiles the source of a model with all its versions, into a .mom its current version alone, or the source of a mapping model. The version hashes are Pippin's own: only Apple's tools can compute Apple's.",
            options: [
                .init(
                    name: "--output", value: "FILE",
                    text: "What to write; what was there is replaced once everything is compiled."),
                .init(
                    name: "--module", value: "NAME",
                    text: "The module of the classes that the model says belong to the current one."),
                .init(
                    name: "--from", value: "MODEL",
                    text:
                        "The version that a mapping model begins at, with its hashes; without it, the source that the mapping model names."
                ),
                .init(name: "--to", value: "MODEL", text: "The version that it gets to."),
            ]),
        CommandDescription(
            name: "model extract", usage: ["STORE|URL --output FILE.xcdatamodeld [--force]"],
            summary: "the model out of a store, as an .xcdatamodeld",
            text:
                "Writes the copy that a store keeps of its model as a source that Xcode and pippin read, and names on the standard error output what such a file has no place for.",
            options: [
                .init(name: "--output", value: "FILE", text: "The .xcdatamodeld or .xcdatamodel to write."),
                .init(name: "--force", text: "Replace what is there."),
            ]),
    ]
}

/// The description of a command, from which its help, manual page and shell completions are generated, and by which its
/// arguments are read.
package struct CommandDescription {
    package struct Option {
        /// `--model`.
        package let name: String
        /// The name of its value; nil for a flag.
        package var value: String?
        package let text: String
        /// The allowed values; empty if any is allowed.
        package var choices: [String] = []
    }

    /// The name as it is typed, without the program: `model diff`.
    package let name: String
    /// The arguments after the name, a line for each form.
    package let usage: [String]
    /// A summary in one line.
    package let summary: String
    /// The full description, in paragraphs.
    package let text: String
    package var options: [Option] = []
    /// The exit statuses other than 0, 1 and 64.
    package var statuses: [(number: Int, meaning: String)] = []
}
