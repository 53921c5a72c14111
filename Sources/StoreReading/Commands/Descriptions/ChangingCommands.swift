// Programs that are launched, and commands that write stores.
extension CommandManual {
    static let showing = [
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
        CommandDescription(
            name: "shell", usage: ["STORE [--model MODEL]"], summary: "queries at a prompt",
            text:
                "Asks for queries, as “query” takes them, and prints what they find: with history, and completion of entities, keys and operators by the tabulator key. Where the input is not a "
                + "terminal, its lines are the queries. The program “pippin-shell” does it, which is built and installed apart: it needs libedit.",
            options: [model]),
    ]

    static let changing = [
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
            name: "sync",
            usage: [
                "STORE STORE|URL [--once | --follow] [--check] [--keep-history] [--discard-refused] [--token-file FILE]"
            ],
            summary: "a file kept in step with a server",
            text:
                "Brings a file and a server's store to the same rows: what was saved in either reaches the other, each transaction once. The server's store is in PostgreSQL (postgresql://app@db.example/books?schema=shop) "
                + "or a file; it is made if it is missing. Or a program answers over HTTP (https://api.example/sync), such as “pippin sync-server”: it is sent the token that is in "
                + "--token-file, or in the environment variable PIPPIN_SYNC_TOKEN. Each store is read by the model that it keeps itself, and both exchange what both models know. Each entity needs an attribute that is unique by itself. "
                + "What the server did not take is printed with the reason, and stays in the file's journal. The program "
                + "“pippin-postgres” does it, which is built and installed apart: it needs libpq, libcurl and libmicrohttpd.",
            options: [
                .init(name: "--once", text: "End when both have the same. That is done without an option, too."),
                .init(
                    name: "--follow",
                    text: "Go on with what is saved later on either side, until the command is interrupted."),
                .init(
                    name: "--check",
                    text:
                        "Compare all rows afterwards, by sums over ranges of identifiers, and take the server's where they differ: rows that somebody changed by SQL, past the history. Each is printed."
                ),
                .init(
                    name: "--keep-history",
                    text:
                        "Begin a persistent history in a file that has none: without one, changes cannot be sent. From then on, programs that open the file have to keep it up, "
                        + "with NSPersistentHistoryTrackingKey or keepsHistory; others can only read it."),
                .init(
                    name: "--discard-refused",
                    text: "Forget the changes that the server did not take, after printing them."),
                .init(
                    name: "--token-file", value: "FILE",
                    text:
                        "The file whose first line is the token for a server over HTTP. It is read anew when the server does not take the token."
                ),
            ],
            statuses: [(3, "changes are in the journal that the server did not take")]),
        CommandDescription(
            name: "sync-server", usage: ["STORE|URL --tokens FILE [--port NUMBER] [--keep-history]"],
            summary: "answers devices that are kept in step over HTTP",
            text:
                "Answers devices over HTTP that are kept in step with the store, a file or one in PostgreSQL, until the command is interrupted. It listens on 127.0.0.1 and has no encryption: "
                + "a reverse proxy before it has both. Each user sees the rows of the scopes that belong to the token, and those that are for everybody, by the rules that the store's own model has; "
                + "a program that asks more calls SyncServer. A request has at most 16 MiB, and 64 MiB once it is inflated; a user has at most 64 requests open, and all devices 4,096 connections; "
                + "news is waited for for at most 60 s. The program “pippin-postgres” does it, which is built and installed apart: it needs libpq, libcurl and libmicrohttpd.",
            options: [
                .init(
                    name: "--tokens", value: "FILE",
                    text:
                        "Who is let in: a line for each token, with the token (at least 16 characters), the user's name, and the scopes that the user may see and change, with spaces between them. "
                        + "Lines that begin with # are left out. The file is read anew when it has changed."),
                .init(
                    name: "--port", value: "NUMBER",
                    text: "The port of 127.0.0.1 to listen on; without it, any that is free, which is printed."),
                .init(
                    name: "--keep-history",
                    text:
                        "Begin a persistent history in a file that has none. From then on, programs that open the file have to keep it up, with NSPersistentHistoryTrackingKey or keepsHistory."
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
}
