import CoreData
import ModelFiles

/// A model for an XML or binary store, which keeps no copy of its own: what the file says about its objects.
///
/// An XML store says the types of attributes and where relationships lead, and so does a binary one of ours; one of
/// Core Data on macOS has values whose classes say it, by place. What a damaged file has is shown, too: the model is
/// made so that each object fits it, see `DocumentStore.showsAllOption`.
enum DocumentModel {
    static func candidate(for url: URL, facts: FileFacts, reason: String) throws -> ModelCandidate {
        var contents = try DocumentStore.contents(of: url, type: facts.kind.type)
        let duplicates = contents.renumberDuplicates()
        let (document, remarks) = document(
            of: contents, isXML: facts.kind == .xml, versionHashes: facts.versionHashes)
        var shown =
            contents.objects.isEmpty
            ? ", and it has no objects"
            : contents.hasCoreDataLayout ? ", in which attributes have numbers instead of names" : ""
        if duplicates > 0 {
            shown +=
                "; \(TextTools.count(duplicates, "object")) with the number of another one "
                + (duplicates == 1 ? "has a new one" : "have new ones")
        }
        for text in remarks + contents.defects { shown += "; \(text)" }
        return ModelCandidate(
            document: document, versionHashes: [:],
            origin: "none: \(reason). Its objects are shown as the file has them\(shown)",
            gap: "\(reason); its objects are shown as the file has them\(shown)")
    }

    /// The model, and what it shows that the file does not say, or does not show, as sentences. Pure.
    static func document(
        of contents: StoreDocument, isXML: Bool, versionHashes: [String: Data] = [:]
    ) -> (document: ModelDocument, remarks: [String]) {
        let facts = DocumentFacts(of: contents, isXML: isXML, versionHashes: versionHashes)
        let found = facts.inheritance()
        var inheritance = found.inheritance
        var properties = DocumentProperties(facts, inheritance, mixed: contents.declarations.common)
        let fitted = properties.fit(to: contents, facts)
        inheritance.join(properties.groups(inheritance))
        var document = ModelDocument()
        for name in inheritance.entities {
            var entity = EntityDocument(name: name)
            entity.parentName = inheritance.parent(of: name)
            entity.isAbstract = facts.entities[name] == nil
            entity.properties = properties.properties(of: name, inheritance)
            document.entities.append(entity)
        }
        let remarks = [
            remark(inheritance, isKnown: found.isKnown),
            named(fitted).map {
                "not all values of \($0) are of the type that the file says, and another one is shown"
            },
            named(properties.clashes).map { "of the name \($0) there is a relationship, too, which is not shown" },
        ]
        return (document, remarks.compactMap { $0 })
    }

    /// The first few of some properties; nil for none.
    private static func named(_ properties: [String]) -> String? {
        guard !properties.isEmpty else { return nil }
        let rest = properties.count > TextTools.mostNamed ? ", …" : ""
        return properties.prefix(TextTools.mostNamed).map { "“\($0)”" }.joined(separator: ", ") + rest
    }

    private static func remark(_ inheritance: EntityInheritance, isKnown: Bool) -> String? {
        if !isKnown {
            return "its relationships contradict each other about which entities inherit from which, or say too much "
                + "to be followed, so that none is shown to inherit from another one of the file"
        }
        return inheritance.guess.map { entity, parent in
            "that “\(entity)” inherits from “\(parent)”, and not the other way around, is a guess"
        }
    }
}
