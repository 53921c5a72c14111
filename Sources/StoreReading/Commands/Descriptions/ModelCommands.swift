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
