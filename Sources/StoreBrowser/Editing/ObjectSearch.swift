import CoreData
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// Finds objects by a part of their names, or by their numbers, for choosing one.
enum ObjectSearch {
    private static let most = 12

    static func response(
        _ text: String, _ entity: EntityLayout, _ session: BrowserSession, _ client: (any HTTPClient)?
    ) throws -> HTTPResponse {
        let rows = try session.aside(for: client) { store -> [Row] in
            let entity = store.layout.entityByName[entity.name] ?? entity
            return try store.asking { engine in
                var plan = FetchPlan(entity: entity)
                plan.limit = most
                if store.pagesByKey { plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)] }
                let wanted = text.trimmingCharacters(in: .whitespaces)
                guard !wanted.isEmpty else { return Array(try engine.fetchRows(plan)) }
                var found: [Row] = []
                if let reference = ObjectReference(wanted),
                    let named = reference.entity.map({ store.layout.entityByName[$0] }) ?? entity,
                    let row = try store.namedRow(store.identifier(named, reference.key), engine),
                    row.objectID.layout.isKind(of: entity)
                {
                    found.append(row)
                }
                guard let slot = ObjectLabel.slot(of: entity) else { return found }
                plan.predicate = makePredicate(
                    .comparison(
                        ComparisonTree(
                            .keyPath([entity.slots[slot].name]), .contains, .constant(.string(wanted)),
                            options: [.caseInsensitive, .diacriticInsensitive])))
                let known = Set(found.map(\.objectID))
                return found + Array(try engine.fetchRows(plan)).filter { !known.contains($0.objectID) }
            }
        }
        let items = rows.prefix(most).map { row in
            JSONText.object([
                ("text", JSONText.string(ObjectLabel.number(of: row.objectID))),
                ("detail", JSONText.string(ObjectLabel.name(of: row) ?? "")),
            ])
        }
        return Answer.json(JSONText.object([("items", "[\(items.joined(separator: ", "))]")]))
    }
}
