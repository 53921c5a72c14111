/// Objects that were fetched together with a batch size: when one is needed, those around it are loaded too.
final class FetchBatch {
    let identifiers: [NSManagedObjectID]

    init(_ identifiers: [NSManagedObjectID]) { self.identifiers = identifiers }
}
