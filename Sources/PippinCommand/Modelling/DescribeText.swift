import CoreData
import StoreReading

/// What `pippin model describe` prints.
enum DescribeText {
    static func text(of source: ModelSource) throws -> String {
        let model = try source.model()
        var lines = [TextTools.visible(source.title), ""]
        lines += EntityText.table(facts(source, model), indent: 2)
        let children = Dictionary(grouping: source.document.entities) { $0.parentName ?? "" }
        for root in sorted(children[""]) { lines += section(root, depth: 0, children) }
        let templates = source.document.fetchRequestTemplates.sorted { $0.key < $1.key }
        if !templates.isEmpty {
            lines += ["", "Fetch requests"]
            lines += EntityText.table(
                templates.map { [$0.key, $0.value.entityName, $0.value.predicate?.format ?? ""] }, indent: 4)
        }
        return TextTools.plainLines(lines.joined(separator: "\n")) + "\n"
    }

    private static func facts(_ source: ModelSource, _ model: NSManagedObjectModel) -> [[String]] {
        let document = source.document
        var facts: [[String]] = []
        if source.versions.count > 1 {
            let names = source.versions.map { $0 == source.currentVersion ? "\($0) (current)" : $0 }
            facts.append(["versions", names.joined(separator: ", ")])
        }
        let identifiers = document.versionIdentifiers.filter { !$0.isEmpty }
        if !identifiers.isEmpty { facts.append(["identifiers", identifiers.joined(separator: ", ")]) }
        facts.append(["checksum", model.versionChecksum])
        facts.append(["version hashes", source.versionHashes.isEmpty ? "Pippin's own" : "Apple's"])
        for (name, members) in document.configurations.sorted(by: { $0.key < $1.key }) {
            facts.append(["configuration", "\(name): \(members.sorted().joined(separator: ", "))"])
        }
        facts.append(["entities", "\(document.entities.count)"])
        return facts
    }

    private static func section(
        _ entity: EntityDocument, depth: Int, _ children: [String: [EntityDocument]]
    ) -> [String] {
        let margin = String(repeating: " ", count: 2 * depth)
        var heading = entity.name
        if let parent = entity.parentName { heading += " : \(parent)" }
        var remarks: [String] = []
        if entity.isAbstract { remarks.append("abstract") }
        if let name = entity.className, name != entity.name { remarks.append("class \(name)") }
        if let former = entity.renamingIdentifier { remarks.append("was \(former)") }
        if let modifier = entity.versionHashModifier { remarks.append("hash modifier \(modifier)") }
        if entity.spotlightDisplayName != nil { remarks.append("has a name for Spotlight") }
        let line = margin + heading + (remarks.isEmpty ? "" : "   " + remarks.joined(separator: ", "))
        return ["", TextTools.visible(line)] + EntityText.table(EntityText.rows(of: entity), indent: 2 * depth + 4)
            + sorted(children[entity.name]).flatMap { section($0, depth: depth + 1, children) }
    }

    private static func sorted(_ entities: [EntityDocument]?) -> [EntityDocument] {
        (entities ?? []).sorted { $0.name < $1.name }
    }
}
