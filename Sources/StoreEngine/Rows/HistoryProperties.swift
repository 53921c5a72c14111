import CoreDataModel
import Foundation

/// The numbering of an entity's properties in the persistent history. Pure.
package struct HistoryProperties {
    /// The names of stored attributes and relationships in one sorted list.
    package let names: [String]
    /// The slots of the attributes that deletions preserve, by name: those of `ZTOMBSTONE0`, `ZTOMBSTONE1`, …. Values
    /// that may be outside the store are not preserved, as in Core Data.
    package let preservedSlots: [Int]
    /// The same, with inherited ones first and each entity's own by name: the order of `knowledgeC` of macOS 10.13.
    package let preservedSlotsInheritedFirst: [Int]

    package init(_ layout: EntityLayout) {
        let stored = layout.slots.filter { !$0.isTransient }.map(\.name)
        names = (stored + layout.toManys.filter { !$0.isTransient }.map(\.name)).sorted()
        preservedSlots = layout.slots.indices.filter { slot in
            guard let attribute = layout.slots[slot].attribute, !layout.slots[slot].isTransient else { return false }
            return attribute.preservesValueInHistoryOnDeletion && !attribute.allowsExternalStorage
                && attribute.type != .compositeAttributeType
        }.sorted { layout.slots[$0].name < layout.slots[$1].name }
        // The slots of an entity begin with those of its superentity.
        let counts = Array(sequence(first: layout) { $0.superentity }).map(\.slots.count)
        func level(_ slot: Int) -> Int { counts.count { $0 <= slot } }
        let levels = preservedSlots.map(level)
        preservedSlotsInheritedFirst = preservedSlots.indices.sorted {
            (levels[$0], $0) < (levels[$1], $1)
        }.map { [preservedSlots] in preservedSlots[$0] }
    }

    /// `ZCOLUMNS`: a bit for each property, starting with the highest bit of the first byte.
    package func mask(of changed: some Sequence<String>) -> Data {
        var bytes = [UInt8](repeating: 0, count: (names.count + 7) / 8)
        for name in changed {
            guard let bit = names.firstIndex(of: name) else { continue }
            bytes[bit / 8] |= 0x80 >> UInt8(bit % 8)
        }
        return Data(bytes)
    }

    /// The properties in a `ZCOLUMNS`; nil if it has bits for which the entity has no properties, because it was
    /// written with another model.
    package func names(in mask: Data) -> [String]? {
        var found: [String] = []
        for (position, byte) in mask.enumerated() {
            for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
                guard names.indices.contains(position * 8 + bit) else { return nil }
                found.append(names[position * 8 + bit])
            }
        }
        return found
    }
}
