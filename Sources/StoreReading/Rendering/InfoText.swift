import CoreData
import SQLiteEngine

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
