import CoreData
import SQLiteEngine

/// An entity's properties as a table, shared by `info` and `model describe`.
package enum EntityText {
    package static func rows(of entity: EntityDocument) -> [[String]] {
        var rows = entity.properties.compactMap(attributeRow) + entity.properties.compactMap(relationshipRow)
        for property in entity.properties {
            guard case .fetched(let request) = property.kind else { continue }
            rows.append([property.name, "⇢ \(request?.entityName ?? "?")", "fetched property"])
        }
        for constraint in entity.uniquenessConstraints {
            rows.append(["unique", constraint.joined(separator: ", "), ""])
        }
        for index in entity.indexes {
            let names = index.elements.map { $0.propertyName ?? "an expression" }
            rows.append(["index", names.joined(separator: ", "), index.name])
        }
        return rows
    }

    private static func attributeRow(_ property: PropertyDocument) -> [String]? {
        guard let attribute = property.attribute else { return nil }
        var remarks: [String] = []
        if property.isOptional { remarks.append("optional") }
        if property.isTransient { remarks.append("transient") }
        if attribute.derivation != nil { remarks.append("derived") }
        if attribute.allowsExternalStorage { remarks.append("large values in files") }
        if property.isIndexedBySpotlight { remarks.append("for Spotlight") }
        if let transformer = attribute.valueTransformerName { remarks.append("by \(transformer)") }
        if !attribute.elements.isEmpty {
            let elements = attribute.elements.map { "\($0.name): \($0.attribute.map { TypeName.of($0.type) } ?? "")" }
            remarks.append("of \(elements.joined(separator: ", "))")
        }
        if let value = attribute.defaultValue {
            // Apple's compiler archives them as numbers.
            let flag = attribute.type == .booleanAttributeType ? (value.object as? NSNumber)?.boolValue : nil
            remarks.append(text(ofDefault: flag.map { .boolean($0) } ?? value))
        }
        return [property.name, TypeName.of(attribute.type), remarks.joined(separator: ", ")]
    }

    package static func text(ofDefault value: ModelValue) -> String {
        switch value {
        case .boolean(let flag): "default \(flag ? "yes" : "no")"
        case .string(let string): "default \(DumpText.text(of: .string(string)))"
        case .date(let date): "default \(DumpText.text(of: .date(date.timeIntervalSinceReferenceDate)))"
        default: value.object.map { "default \($0)" } ?? "default of a class of its own"
        }
    }

    private static func relationshipRow(_ property: PropertyDocument) -> [String]? {
        guard let relationship = property.relationship else { return nil }
        var remarks = [relationship.isToMany ? (relationship.isOrdered ? "to many, ordered" : "to many") : "to one"]
        if property.isOptional { remarks.append("optional") }
        if relationship.isToMany, relationship.minCount > 0 || relationship.maxCount > 0 {
            let maximum = relationship.maxCount > 0 ? "\(relationship.maxCount)" : "any number"
            remarks.append("\(relationship.minCount) to \(maximum)")
        }
        if let source = relationship.impliedBy(property.name) {
            remarks.append("implied by \(source)")
        } else if let inverse = relationship.inverseName {
            remarks.append("inverse \(inverse)")
        }
        switch relationship.deleteRule {
        case .nullifyDeleteRule: break
        case .cascadeDeleteRule: remarks.append("cascades")
        case .denyDeleteRule: remarks.append("denies deletion")
        case .noActionDeleteRule: remarks.append("no action on deletion")
        }
        return [property.name, "→ \(relationship.destinationName ?? "?")", remarks.joined(separator: ", ")]
    }

    /// The rows with their columns aligned.
    package static func table(_ rows: [[String]], indent: Int) -> [String] {
        let rows = rows.map { $0.map(TextTools.plain) }
        let columns = rows.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { TextTools.padded($1, widths[$0]) }
            let line = String(repeating: " ", count: indent) + cells.joined(separator: "   ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

extension RelationshipDocument {
    /// The relationship that a model of structs declares, `Book.author`, of which this one is the other side that
    /// nobody wrote, `authorOfBook`; nil for one that is declared. Pure.
    package func impliedBy(_ name: String) -> String? {
        guard let inverseName, let destinationName, name == "\(inverseName)Of\(destinationName)" else { return nil }
        return "\(destinationName).\(inverseName)"
    }
}

/// The output of `pippin info`.
package enum InfoText {
    package static func text(of report: StoreReport) -> String {
        var lines = [report.fileName, ""]
        lines += EntityText.table(facts(report), indent: 2)
        for entity in report.entities {
            lines.append("")
            lines += self.lines(of: entity)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func facts(_ report: StoreReport) -> [[String]] {
        var size = TextTools.size(report.byteCount)
        if report.logByteCount > 0 { size += ", and \(TextTools.size(report.logByteCount)) in its write-ahead log" }
        var facts = [
            ["UUID", report.uuid.isEmpty ? "none" : report.uuid], ["size", size], ["model", report.modelOrigin],
        ]
        for gap in [report.damage, report.logGap].compactMap({ $0 }) + report.strangeRows {
            facts.append(["not read", gap])
        }
        if report.hasNoOwnModel, !report.findings.isEmpty {
            facts.append([
                "", "does not fit: the store has not all that this model says, and may be of another version",
            ])
        }
        if !report.losses.isEmpty { facts.append(["not read", report.losses.joined(separator: ", ")]) }
        if let missing = report.missingMetadata { facts.append(["metadata", "none: \(missing)"]) }
        if report.isOurs {
            facts.append(["written by", "Pippin"])
        } else if let version = report.frameworkVersion {
            facts.append(["written by", "Core Data, framework version \(version)"])
        }
        if let history = report.history { facts.append(["history", history]) }
        if let sync = report.sync { facts.append(["sync", sync]) }
        if let external = report.external { facts.append(["external data", external]) }
        if !report.configurations.isEmpty {
            facts.append(["configurations", report.configurations.joined(separator: ", ")])
        }
        for finding in report.findings { facts.append(["not found", finding]) }
        let total = report.entities.reduce(0) { $0 + $1.count }
        facts.append(["entities", "\(report.entities.count), with \(TextTools.count(total, "object"))"])
        return facts
    }

    private static func lines(of entity: StoreReport.Entity) -> [String] {
        let document = entity.document
        var heading = document.name
        if let parent = document.parentName { heading += " : \(parent)" }
        var remarks: [String] = []
        if document.isAbstract { remarks.append("abstract") }
        if !document.isAbstract || entity.totalCount > 0 {
            var count = document.isAbstract && entity.count == 0 ? "" : TextTools.count(entity.count, "object")
            if entity.totalCount != entity.count {
                let total = TextTools.grouped(Int64(entity.totalCount))
                count += count.isEmpty ? "\(total) objects of subentities" : ", \(total) with subentities"
            }
            remarks.append(count)
        }
        if let className = document.className, className != document.name { remarks.append("class \(className)") }
        let indent = 2 * entity.depth
        let margin = String(repeating: " ", count: indent)
        return [TextTools.plain("\(margin)\(heading)   \(remarks.joined(separator: ", "))")]
            + EntityText.table(EntityText.rows(of: document), indent: indent + 4)
    }
}
