// The files of models and mapping models: as sources of Xcode's editor, and compiled, as keyed archives.
// `CodeGeneration/ModelSources` writes the sources.
//
// Everything here is a value: the content of a file is read into a document, checked, and written again by functions.
// The module `CoreData`, one layer above, makes the classes that users of Core Data know from documents. The build
// plugin's tool needs nothing above this layer.
//
//     Descriptions     the enumerations that documents and Core Data's description classes share
//     Documents        a model as a value, and what must hold in it
//     Source           reads the XML of Xcode's editor
//     Archives         reads and writes compiled models, and predicates as they are archived
//     Versions         version hashes, and what a package says of its versions
//     Packages         the folders that models are: finding versions, compiling
//     Mappings         mapping models, source and compiled
//     StoreDocuments   the XML of stores, which mapping models are kept in
//     KeyedArchives    Apple's keyed archives and property lists, as trees of values
//     Errors           what is wrong with a file, and where
@_exported import Foundation
@_exported import PredicateFormat
