import CoreData
import StoreReading

/// What a migration will do, as text: each entity and property that changes, and the statements.
enum MigrationText {
    static func plan(_ plan: MappingPlan) -> String {
        let lines = plan.entities.flatMap { changes(of: $0) }
        return lines.isEmpty ? "No entity changes its name or its properties.\n" : lines.joined(separator: "\n") + "\n"
    }

    private static func changes(of entity: EntityMappingPlan) -> [String] {
        switch entity.kind {
        case .copy: return []
        case .add: return ["+ entity \(entity.destination ?? "")"]
        case .remove: return ["- entity \(entity.source ?? ""), with its objects"]
        case .transform:
            var lines = ["~ entity \(entity.destination ?? "")" + renamed(entity.destination, entity.source)]
            for (kind, properties) in [("attribute", entity.attributes), ("relationship", entity.relationships)] {
                for property in properties {
                    if property.source == nil {
                        lines.append("    + \(kind) \(property.name)")
                    } else if property.source != property.name {
                        lines.append("    ~ \(kind) \(property.name)\(renamed(property.name, property.source))")
                    }
                }
            }
            return lines
        }
    }

    private static func renamed(_ name: String?, _ former: String?) -> String {
        name == former ? "" : ", formerly \(former ?? "")"
    }

    /// The statements, a line each.
    static func steps(_ steps: [MigrationStep]) -> String {
        steps.map { step in
            switch step {
            case .run(let sql), .compile(let sql, _), .create(let sql, _): return "  \(sql);\n"
            case .expectNone(let sql, let violation): return "  \(sql);  -- must find nothing: \(violation.reason)\n"
            }
        }.joined()
    }

    /// A mapping model's entity mappings.
    static func mapping(_ mapping: NSMappingModel) -> String { mapping.text + "\n" }
}
