import Foundation

extension NSFetchRequest: FetchingOperand {
    /// The results of the request, for `FETCH(…)` in a predicate that is evaluated in memory.
    package func fetchedValue(in context: Any?, countOnly: Bool) -> Value {
        guard let context = context as? NSManagedObjectContext else {
            programmerError("FETCH in a predicate needs a managed object context to run its request in memory")
        }
        do {
            if countOnly { return .integer(Int64(try context.count(for: self))) }
            let results = try context.results(of: self)
            guard resultType == .dictionaryResultType else { return Value(results) }
            // Each dictionary contributes its only value.
            return .collection(results.map { Value(($0 as? [String: Any])?.values.first) })
        } catch {
            programmerError("FETCH of “\(entityName ?? "")” in a predicate failed. \(error.localizedDescription)")
        }
    }
}
