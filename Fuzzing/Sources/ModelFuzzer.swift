@testable import CoreData
import Foundation

/// Reads the input as the `contents` of an `.xcdatamodel`. The archive of a model that is read must be readable.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzModel(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard let document = try? SourceReader.document(of: Data(bytes: bytes, count: count)),
        let model = try? ModelAssembler.model(document, versionHashes: [:]),
        let cache = try? ModelCache.modelCacheData(for: model)
    else { return 0 }
    do {
        let again = try ModelCache.model(fromModelCache: cache, entityVersionHashes: [:])
        guard again.entitiesByName.keys.sorted() == model.entitiesByName.keys.sorted() else {
            fatalError("the model's archive has other entities")
        }
    } catch {
        fatalError("the model's archive cannot be read: \(error)")
    }
    return 0
}
