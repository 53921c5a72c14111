/// What the command says about itself.
enum Usage {
    static let summary = """
        Usage: pippin info STORE [--model MODEL]
               pippin dump STORE [--entity NAME] [--json] [--model MODEL]
               pippin migrate STORE --to MODEL [--version NAME] [--mapping FILE | --mappings FOLDER] [--dry-run]
               pippin model describe | validate | diff | graph | generate | compile | extract …
        Try “pippin --help”, or “pippin model --help”.

        """

    static let text = """
        pippin looks into the stores of Core Data, without changing a byte of them, and migrates them when asked.

        Usage:
          pippin info STORE [--model MODEL]
              What the store is, and its entities: attributes, relationships, inheritance, how many objects.

          pippin dump STORE [--entity NAME] [--json] [--model MODEL]
              The objects, with their attributes and relationships.

          pippin migrate STORE --to MODEL [--version NAME] [--mapping FILE | --mappings FOLDER] [--dry-run]
              Brings the store to a version of a model, after showing what changes. A copy of the store is kept until
              that has succeeded.

          pippin model COMMAND …
              Works with models: describe, validate, diff, graph, generate, compile, extract. “pippin model --help” and
              “pippin model COMMAND --help” say more.

          --to MODEL      The model to get to: .momd, .mom, .xcdatamodeld or .xcdatamodel.
          --version NAME  The version of that model; without it, the current one.
          --mapping FILE  A mapping model (.cdm or .xcmappingmodel) to follow; without it, the mapping is inferred.
          --mappings FOLDER
                          Go over the versions of the model, by the shortest chain of steps that passes over none of the
                          compiled mapping models (.cdm) in the folder; other steps are inferred. Without it, that is done
                          where the mapping cannot be inferred in one step.
          --dry-run       Only show what would be done, with the SQL.

          --entity NAME   Only objects of this entity and of those that inherit from it.
          --json          One JSON object. Its “objects” has, for the name of each entity, an array of objects:
                          objectID (the URI), attributes by name (dates in ISO 8601, data in Base64),
                          relationships as URIs, those that lead to no object as {"missing": URI}.
          --model MODEL   The model to read the store with: .momd, .mom, .xcdatamodeld or .xcdatamodel.
                          Without it, the copy that the store keeps of its model; where there is none, objects are shown as
                          the store's tables, or its file, have them.

        Exit status: 0, 1 when the store or model cannot be read, 64 when the arguments make no sense.

        """
}
