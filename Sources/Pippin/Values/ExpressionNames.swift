import CoreData

// Foundation has classes of these names on other platforms too, which can be neither created nor subclassed.
typealias NSExpression = CoreData.NSExpression
typealias NSComparisonPredicate = CoreData.NSComparisonPredicate
