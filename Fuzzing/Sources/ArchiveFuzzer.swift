import Foundation
import ModelFiles
@testable import CoreData

/// Reads the input as a binary property list, as a keyed archive of a model, and as the deflated model that a store keeps.
/// What can be read must be written to a file that says the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzArchive(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let data = Data(bytes: bytes, count: count)
    guard PropertyList.isBinary(data) else {
        // The limit keeps a run short; the reader's own is larger.
        if let inflated = try? RawDeflate.inflate(data, limit: 1 << 20) { readModel(inflated) }
        return 0
    }
    if let list = try? PropertyList(binary: data, limits: limits), let written = try? list.binaryData() {
        guard let again = try? PropertyList(binary: written), again.isSame(as: list) else {
            fatalError("what was written of a property list cannot be read or says something else")
        }
    }
    readModel(data)
    return 0
}

/// A list may describe far more values than it has bytes. To read those takes its time, and shows nothing new.
private let limits: PropertyListLimits = {
    var limits = PropertyListLimits()
    limits.values = 100_000
    return limits
}()

private func readModel(_ archive: Data) {
    guard (try? PropertyList(binary: archive, limits: limits)) != nil else { return }
    if let document = try? ModelArchiveReader.document(of: archive) {
        _ = try? ModelAssembler.model(document, versionHashes: [:])
    }
}

extension PropertyList {
    /// Whether two lists are written alike. Not `==`, for which NaN differs from itself.
    fileprivate func isSame(as other: PropertyList) -> Bool {
        (try? binaryData()) == (try? other.binaryData())
    }
}
