import CoreDataModel
import Foundation
import StoreEngine

/// The columns that a root entity's table must have: one for each attribute, to-one relationship and owner.
struct WantedTable {
    struct Column {
        let entity: EntityLayout
        /// The property; the composite for its elements.
        let property: String
        let wanted: ColumnMatching.Wanted
        /// The relationship whose owners the column holds.
        var owner: RelationshipLayout?
        /// For a relationship, the column with the destination's entity, by the rules.
        var entityColumn: String?
        /// For a relationship with an order, the column with the place, by the rules.
        var orderColumn: String?
    }

    let root: EntityLayout
    /// The name by the rules.
    let name: String
    /// The name without a number.
    let stem: String
    /// The table's name before the entity was renamed.
    let former: String?
    private(set) var columns: [Column] = []

    init(_ root: EntityLayout, members: [EntityLayout], names: SchemaNames) {
        self.root = root
        stem = "Z" + root.name.uppercased()
        name = names.tables[root.name] ?? stem
        let identifier = root.description.renamingIdentifier
        former = identifier.flatMap { $0 == root.name ? nil : "Z" + $0.uppercased() }
        for entity in members {
            let properties = entity.description.propertiesByName
            for (property, column) in (names.columns[entity.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let renamed = properties[property]?.renamingIdentifier.flatMap { $0 == property ? nil : $0 }
                for leaf in column.flattened {
                    let path = leaf.property.split(separator: ".")
                    let base = path.last.map(String.init) ?? property
                    // Earlier versions of Pippin put the composite's name into the columns of its elements.
                    let others = path.count > 1 ? ["Z" + path.joined(separator: "_").uppercased()] : []
                    columns.append(
                        Column(
                            entity: entity, property: property,
                            wanted: .init(
                                name: leaf.name, stem: "Z" + base.uppercased(), others: others,
                                former: path.count > 1 ? nil : renamed.map { "Z" + $0.uppercased() },
                                type: leaf.storage.declaredType),
                            entityColumn: leaf.entityColumn, orderColumn: leaf.orderColumn))
                }
            }
            for owner in names.owners[entity.name] ?? [] {
                let stem = StoredName.numbered(owner.name, prefix: "Z").map {
                    "Z\($0.number)\(owner.relationship.name.uppercased())"
                }
                columns.append(
                    Column(
                        entity: entity, property: owner.relationship.name,
                        wanted: .init(name: owner.name, stem: stem ?? owner.name, type: "INTEGER", prefix: "Z"),
                        owner: owner.relationship, orderColumn: owner.orderColumn))
            }
        }
    }
}

/// How names in a store resemble those by the rules, from the closest to the most distant resemblance.
enum StoredName {
    /// A key that is equal for names that SQLite takes for one, which ignores the case of ASCII letters. The key also
    /// ignores the case and composition of letters with marks, which SQLite distinguishes; the file's spelling is used.
    static func key(_ name: String) -> String { name.uppercased() }

    /// The same without marks on letters, and without other differences between the uppercasing of different systems.
    static func looseKey(_ name: String) -> String {
        name.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil).uppercased()
            .replacingOccurrences(of: "ß", with: "SS").replacingOccurrences(of: "ı", with: "I")
    }

    /// Whether a name is a stem, possibly with a number that distinguishes it from others.
    static func isNumbered(_ name: String, stem: String) -> Bool {
        name.hasPrefix(stem) && name.dropFirst(stem.count).allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Whether a name is a truncated form of a longer one, possibly followed by a number. Short names do not count.
    static func isTruncation(_ name: String, of long: String) -> Bool {
        let cut = unnumbered(name)
        return cut.count >= shortestTruncation && cut.count < long.count && long.hasPrefix(cut)
    }

    private static let shortestTruncation = 12

    /// The name without digits at its end.
    static func unnumbered(_ name: String) -> String {
        var end = name.endIndex
        while end > name.startIndex, let last = name[..<end].last, last.isASCII, last.isNumber {
            end = name.index(before: end)
        }
        return String(name[..<end])
    }

    /// The number and the rest of a name such as `Z_17PEOPLE`, after a prefix.
    static func numbered(_ name: String, prefix: String) -> (number: Int, rest: String)? {
        guard name.hasPrefix(prefix) else { return nil }
        let tail = name.dropFirst(prefix.count)
        let digits = tail.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), digits.count < tail.count else { return nil }
        return (number, String(tail.dropFirst(digits.count)))
    }
}
