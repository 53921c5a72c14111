import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

extension XMLParser {
    /// A parser of data of any size that does not load external entities.
    ///
    /// The parser reads a stream, since libxml2 refuses more than 10,000,000 bytes at once.
    ///
    /// - Parameter data: the XML.
    convenience init(ofAnySize data: Data) {
        self.init(stream: InputStream(data: data))
        shouldResolveExternalEntities = false
    }
}
