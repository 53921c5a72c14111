import CoreData

/// The objects of a file that are of a subentity there, and of the entity itself once they are imported.
final class ImportedSubentities {
    private let names: Set<String>
    private(set) var counts: [String: Int] = [:]

    init(of entity: EntityLayout) { names = Set(entity.selfAndSubentities.dropFirst().map(\.name)) }

    /// Counts an object by its ID: `x-coredata://…/Dog/p1`.
    func note(_ members: [(String, ImportFile.Value)]) {
        guard !names.isEmpty, case .text(let uri)? = members.first(where: { $0.0 == "objectID" })?.1,
            let name = uri.split(separator: "/").dropLast().last.map(String.init), names.contains(name)
        else { return }
        counts[name, default: 0] += 1
    }
}
