// What is wrong with stores, what is gone from them, and what happened when.
extension CommandManual {
    static let examining = [
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
            usage: [
                "STORE --output FOLDER [--only-gone] [--raw] [--at-commit NUMBER] [--evidence FILE] [--model MODEL] …"
            ],
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
                .init(name: "--only-gone", text: "Leave out the objects that the store has."), raw, dates, timezone,
                atCommit, evidence, model,
            ]),
        CommandDescription(
            name: "history",
            usage: [
                "STORE [--of OBJECT] [--follow] [--json] [--decode] [--raw] [--dates LIST] [--timezone ZONE] [--model MODEL]"
            ],
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
                .init(name: "--json", text: "A JSON object for each change, one a line."), decode, raw, dates, timezone,
                model,
            ]),
        CommandDescription(
            name: "timeline",
            usage: [
                "STORE|FOLDER|ZIP… [--format FORMAT] [--output FILE] [--dates LIST] [--timezone ZONE] [--evidence FILE] …"
            ],
            summary: "the dates of all objects, in the order of time",
            text:
                "Writes a line for each date of each object of all stores, the earliest first: time, entity, property, what names the object, its URI, and the store. In folders and ZIP archives, stores are found "
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
                dates, timezone, evidence, model,
            ]),
        CommandDescription(
            name: "scan", usage: ["FOLDER|ZIP… [--json]"],
            summary: "the stores in folders and archives, found by their content",
            text:
                "Finds every store of Core Data in folders and ZIP archives, whatever its name, with its kind, size, identifier, entities and numbers of objects. In a backup of an iOS device, which “Manifest.db” describes, "
                + "it says where each store was on the device, and which file is its log. Symbolic links are not followed.",
            options: [.init(name: "--json", text: "A JSON object for each store, one a line.")]),
    ]
}
