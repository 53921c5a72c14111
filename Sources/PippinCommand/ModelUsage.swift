// What `pippin model` says about itself.
extension Usage {
    static func text(_ topic: HelpTopic) -> String {
        switch topic {
        case .all: text
        case .model: model
        case .describe: describe
        case .validate: validate
        case .diff: diff
        case .graph: graph
        case .generate: generate
        case .compile: compile
        case .extract: extract
        }
    }

    private static let model = """
        pippin model COMMAND …
            Works with models. MODEL is an .xcdatamodeld, .xcdatamodel, .momd or .mom, or a store, which keeps a copy of its
            model.

            describe MODEL [--version NAME]            what is in it
            validate MODEL [--version NAME] [--strict] what is wrong with it
            diff A B [--from NAME] [--to NAME]         what changes from one to the other, and whether stores migrate by themselves
            graph MODEL [--format dot|svg|png] [--output FILE]
                                                       its entities as a diagram
            generate MODEL [--output FILE] [--module NAME] [--all]
                                                       its record classes in Swift
            compile MODEL --output FILE [--module NAME]
                                                       a .momd of it, or a .cdm of a mapping model
            extract STORE --output FILE [--force]      the model out of a store, as an .xcdatamodeld
            “pippin model COMMAND --help” says more.

        """

    private static let describe = """
        pippin model describe MODEL [--version NAME]
            The entities of a model with their attributes, relationships, constraints and indexes, and what tells its
            version: identifiers, checksum, and whose the version hashes are.

            --version NAME  The version to describe; without it, the current one.

        """

    private static let validate = """
        pippin model validate MODEL [--version NAME] [--strict]
            Says what is wrong with the versions of a model, and warns of what is likely to be a mistake: relationships
            without an inverse, names that objects have for themselves, values that any class may hide in.

            --version NAME  Only this version.
            --strict        Warnings fail, too.

            Exit status: 0; 1 when a version is wrong.

        """

    private static let diff = """
        pippin model diff A B [--from NAME] [--to NAME]
            What changes from model A to model B, and what becomes of stores: whether they need no migration, migrate by an
            inferred mapping, or need a mapping model, and what that has to say. A and B may be one package, with --from and
            --to naming its versions; B may be left out then.

            --from NAME     The version of A; without it, the current one.
            --to NAME       The version of B; without it, the current one.

            Exit status: 0; 2 when a mapping model is needed.

        """

    private static let graph = """
        pippin model graph MODEL [--version NAME] [--format dot|svg|png] [--output FILE]
            The entities as a diagram: attributes in boxes, relationships as lines with “1” or “*” at their ends, inheritance
            as arrows. SVG and PNG are drawn by Graphviz, which must be installed; DOT is its language, and needs nothing.

            --version NAME  The version to draw; without it, the current one.
            --format        Without it, what FILE's extension says, or else dot.
            --output FILE   Where to write it; without it, to the standard output.

        """

    private static let generate = """
        pippin model generate MODEL [--version NAME] [--output FILE] [--module NAME] [--all]
            The classes of the objects in Swift, as the package plugin generates them: whole classes or extensions, as the
            model says for each entity.

            --output FILE   Where to write them; without it, to the standard output.
            --module NAME   The module that the classes are for, which their names leave out.
            --all           A class for each entity, also where the model says that there is one.

        """

    private static let compile = """
        pippin model compile MODEL --output FILE.momd [--module NAME]
        pippin model compile MAPPING.xcmappingmodel --output FILE.cdm [--from MODEL --to MODEL]
            Compiles the source of a model with all its versions, or of a mapping model. The version hashes are Pippin's own:
            nobody but Apple's tools can compute Apple's.

            --output FILE   What to write; what was there is replaced once everything is compiled.
            --module NAME   The module of the classes that the model says belong to the current one.
            --from, --to    The versions that a mapping model is compiled for, with their hashes; without them, the sources
                            that it names.

        """

    private static let extract = """
        pippin model extract STORE --output FILE.xcdatamodeld [--force]
            Writes the copy that a store keeps of its model as a source that Xcode and pippin read, and names on the standard
            error output what such a file has no place for.

            --output FILE   The .xcdatamodeld or .xcdatamodel to write.
            --force         Replace what is there.

        """
}
