package import StoreSession

/// The source of a manager's model.
package enum ModelSource {
    case named(String, in: Bundle)
    case namedInBundle(String, identifier: String)
    case file(URL)
    case built(NSManagedObjectModel)
    case notDerivable(PersistenceError)

    func model() throws -> NSManagedObjectModel {
        switch self {
        case .built(let model):
            return model
        case .notDerivable(let error):
            throw error
        case .file(let url):
            guard let model = NSManagedObjectModel(contentsOf: url) else {
                throw PersistenceError.modelNotReadable(url: url)
            }
            return SharedModels.model(model, at: url.path)
        case .named(let name, let bundle):
            return try Self.model(named: name, in: bundle)
        case .namedInBundle(let name, let identifier):
            guard let bundle = Bundle(identifier: identifier) else {
                throw PersistenceError.bundleNotFound(identifier: identifier)
            }
            return try Self.model(named: name, in: bundle)
        }
    }

    private static func model(named name: String, in bundle: Bundle) throws -> NSManagedObjectModel {
        let candidates = ["momd", "mom"].lazy.compactMap { bundle.url(forResource: name, withExtension: $0) }
        guard let url = candidates.first else {
            throw PersistenceError.modelNotFound(name: name, bundle: bundle.bundlePath)
        }
        return try ModelSource.file(url).model()
    }
}
